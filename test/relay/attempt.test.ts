// What an open stream holds of its request.

import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { openStream, type StreamAnswer } from '../../src/relay/attempt.ts'
import type { Call } from '../../src/relay/call.ts'
import { openBody } from '../../src/relay/client-body.ts'
import type { Exchange } from '../../src/relay/exchange.ts'
import { CODECS } from '../../src/wire/index.ts'
import { MESSAGES } from '../chaos/support/stories.ts'

const STREAMS = 10
const MB = 1024 * 1024

/** The prompt's size in memory, held so many times by each stream that a client of the responses wire has been opened. */
const heldBy = async (members: object): Promise<number> => {
  const held = (): number => {
    Bun.gc(true)
    return heapStats().extraMemorySize
  }
  const open = (): Promise<StreamAnswer> => {
    const bytes = new TextEncoder().encode(JSON.stringify({ model: 'm', ...members, input: 'x'.repeat(MB) }))
    const body = openBody(bytes, () => true)
    const reading = {
      relay: { clock: Date },
      request: { id: 'req_1', key: { id: 'k' }, wire: 'responses', bodyWire: 'responses', body, asSent: body },
      target: { wire: 'messages', model: { id: 'm' }, provider: {} },
      codec: CODECS.messages,
      plan: { body: '', undo: {} },
      abort: new AbortController(),
    } as unknown as Call<Exchange> & Parameters<typeof openStream>[0]
    const stream = new ReadableStream({
      start: (to) => to.enqueue(new TextEncoder().encode(MESSAGES.begin + MESSAGES.word('hello'))),
    })
    return openStream(reading, new Response(stream), () => undefined)
  }
  const first = await open()
  const before = held()
  const answers: StreamAnswer[] = []
  while (answers.length < STREAMS) answers.push(await open())
  const during = held()
  for (const { first: text } of [first, ...answers]) expect(text).toContain('hello')
  return (during - before) / STREAMS / MB
}

test.each([
  ['nothing of the prompt', { store: false }, 0.5],
  ['the prompt once, where its client may refer to the answer', {}, 1.5],
])('a translated stream holds %s', async (_, members, most) => {
  expect(await heldBy(members)).toBeLessThan(most)
})
