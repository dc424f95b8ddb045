// Fold inverts unfold, however the parts of a stream overlap.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../src/errors.ts'
import type { ChatEvent, ChatResponse } from '../../src/ir/event.ts'
import { fold, unfold } from '../../src/ir/fold.ts'
import { sequence } from '../../src/ir/sequence.ts'
import { chatResponse } from '../support/arbitrary/answer.ts'

/** Interleaves the parts' events; each part keeps its own order. */
const weave = (response: ChatResponse, picks: number[]): ChatEvent[] => {
  const [start, ...rest] = unfold(response)
  const finish = rest.pop()
  if (start === undefined || finish === undefined) throw new Error('an answer has a start and a finish')
  const lanes = response.parts.map((_, part) => rest.filter((event) => 'part' in event && event.part === part))
  const woven: ChatEvent[] = []
  let at = 0
  // Parts are numbered in order of their start: a lane may begin only after the one before it.
  while (lanes.some((lane) => lane.length > 0)) {
    const begun = lanes.findIndex(
      (lane, part) =>
        lane.length > 0 &&
        lane[0]?.type.endsWith('-start') &&
        lanes.slice(0, part).every((other) => !other[0]?.type.endsWith('-start')),
    )
    const able = lanes.filter((lane, part) => lane.length > 0 && (!lane[0]?.type.endsWith('-start') || part === begun))
    const lane = able[(picks[at++ % picks.length] ?? 0) % able.length]
    const event = lane?.shift()
    if (event) woven.push(event)
  }
  return [start, ...woven, finish]
}

const picks = fc.array(fc.nat(10), { minLength: 1, maxLength: 20, size: 'max' })

describe('fold', () => {
  test('inverts unfold', () =>
    fc.assert(fc.property(chatResponse, (response) => expect(fold(unfold(response))).toEqual(response))))

  test('gives the same answer however the parts overlap', () =>
    fc.assert(
      fc.property(chatResponse, picks, (response, order) => expect(fold(weave(response, order))).toEqual(response)),
    ))

  test('has the latest value of each usage count', () => {
    const { usage } = fold([
      { type: 'start', id: 'x', usage: { input: 5, output: 1 } },
      { type: 'usage', usage: { cacheRead: 2, output: 3 } },
      { type: 'finish', reason: 'stop', usage: { output: 9 } },
    ])
    expect(usage).toEqual({ input: 5, cacheRead: 2, output: 9 })
  })

  test('throws the error of a stream that failed', () => {
    const error = new GatewayError('upstream_error', 'broke')
    expect(() =>
      fold([
        { type: 'start', id: 'x' },
        { type: 'error', error },
      ]),
    ).toThrow(error)
  })

  test('throws for a stream without an end', () =>
    fc.assert(
      fc.property(chatResponse, (response) => expect(() => fold(unfold(response).slice(0, -1))).toThrow('broke off')),
    ))
})

describe('sequence', () => {
  test('puts overlapping parts one after the other and loses nothing', () =>
    fc.assert(
      fc.property(chatResponse, picks, (response, order) => {
        const push = sequence()
        const events = weave(response, order).flatMap(push)
        let open: number | undefined
        for (const event of events) {
          if (!('part' in event)) continue
          if (event.type.endsWith('-start')) {
            expect(open).toBeUndefined()
            open = event.part
          }
          expect(event.part).toBe(open ?? event.part)
          if (event.type.endsWith('-end')) open = undefined
        }
        expect(fold(events)).toEqual(response)
      }),
    ))

  test('passes the events of the open part at once', () => {
    const push = sequence()
    push({ type: 'text-start', part: 0 })
    expect(push({ type: 'text-delta', part: 0, text: 'a' })).toEqual([{ type: 'text-delta', part: 0, text: 'a' }])
  })

  test('closes nothing when the stream fails', () => {
    const push = sequence()
    const error = new GatewayError('upstream_error', 'broke')
    push({ type: 'tool-start', part: 0, id: 'a', name: 'f', kind: 'function' })
    push({ type: 'tool-start', part: 1, id: 'b', name: 'g', kind: 'function' })
    expect(push({ type: 'error', error })).toEqual([{ type: 'error', error }])
  })
})
