// For how long another wire is believed to be the one that a server has: for an hour if the server said so, and where it
// may have been about one request alone, for a minute at first and longer each time that it holds.

import { expect, test } from 'bun:test'
import type { Wire } from '../../../src/ir/wire.ts'
import { createDetours } from '../../../src/relay/adapt/detours.ts'
import type { ClientRequest } from '../../../src/relay/exchange.ts'
import type { Target } from '../../../src/relay/target.ts'

const provider = { id: 'p', wires: ['messages', 'chat-completions', 'responses'] } as unknown as Target['provider']
const model = { id: 'm' } as Target['model']
const request = { key: { id: 'k' }, bodyWire: 'messages', body: { outline: {} } } as ClientRequest
const targetOn = (wire: Wire) => ({ provider, model, wire, name: 'p/a/m' }) as Target

const MINUTES = 60_000

/** Remembers as often as it is forgotten; gives for how many minutes each time. */
const lastings = (sure: readonly boolean[], together = 1): number[] => {
  let now = 0
  const detours = createDetours(() => now)
  return sure.map((isSure) => {
    const from = now
    for (let one = 0; one < together; one++) detours.remember(request, targetOn('chat-completions'), isSure)
    while (detours.wireFor(provider, model, request) !== undefined) now += MINUTES / 2
    return Math.floor((now - from) / MINUTES)
  })
}

test('what was said lasts an hour, each time', () => {
  expect(lastings([true, true])).toEqual([60, 60])
})

test('what was guessed lasts a minute, and four times as long each time that it holds, up to an hour', () => {
  expect(lastings([false, false, false, false, false])).toEqual([1, 4, 16, 60, 60])
})

test('requests that were refused together are one guess', () => {
  expect(lastings([false, false, false], 10)).toEqual([1, 4, 16])
})

test('what was said after a guess lasts an hour, and a guess of another wire a minute', () => {
  expect(lastings([false, true])).toEqual([1, 60])
  let now = 0
  const detours = createDetours(() => now)
  detours.remember(request, targetOn('chat-completions'), false)
  now += 2 * MINUTES
  detours.remember(request, targetOn('responses'), false)
  expect(detours.wireFor(provider, model, request)).toBe('responses')
  now += 2 * MINUTES
  expect(detours.wireFor(provider, model, request)).toBeUndefined()
})
