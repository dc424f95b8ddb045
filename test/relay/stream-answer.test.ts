// What an open stream holds of its request.

import { heapStats } from 'bun:jsc'
import { afterEach, expect, test } from 'bun:test'
import type { AnswerStore } from '../../src/ledger/kept-answers.ts'
import { createAnswersInMemory } from '../../src/ledger/kept-in-memory.ts'
import { createTurns } from '../../src/lib/turns.ts'
import { createRecall } from '../../src/relay/adapt/recall.ts'
import type { Call } from '../../src/relay/call.ts'
import { NO_BODY } from '../../src/relay/client-body.ts'
import type { Exchange } from '../../src/relay/exchange.ts'
import type { StreamAnswer } from '../../src/relay/reading.ts'
import { openStream } from '../../src/relay/stream-answer.ts'
import { CODECS } from '../../src/wire/index.ts'
import { MESSAGES } from '../chaos/support/stories.ts'
import { cleanUp, newPath, open as openDatabase } from '../store/support.ts'
import { openAtOnce } from '../support/open-at-once.ts'

afterEach(cleanUp)

const STREAMS = 10
const MB = 1024 * 1024

/** The prompt's size in memory, held so many times by each stream that a client of the responses wire has been opened. */
const heldBy = async (members: object, answers: AnswerStore, isWritten: Promise<void>): Promise<number> => {
  const bounds = { perKey: 100 * MB, total: 100 * MB }
  const recall = createRecall({
    ...{ answers: () => answers, bounds: () => bounds, turns: createTurns() },
    failed: (cause) => expect(cause).toBeUndefined(),
  })
  const held = (): number => {
    Bun.gc(true)
    return heapStats().extraMemorySize
  }
  const open = async (): Promise<StreamAnswer> => {
    const bytes = new TextEncoder().encode(JSON.stringify({ model: 'm', ...members, input: 'x'.repeat(MB) }))
    const body = await openAtOnce(bytes, () => true)
    const request = {
      codec: CODECS.responses,
      id: 'req_1',
      key: { id: 'k' },
      wire: 'responses',
      bodyWire: 'responses',
      body,
      asSent: body,
    }
    const reading = {
      relay: { clock: Date, recall },
      request,
      target: { wire: 'messages', model: { id: 'm' }, provider: { timeouts: { idleMs: 1_000 } } },
      codec: CODECS.messages,
      plan: { body: '', undo: {} },
      abort: new AbortController(),
    } as unknown as Call<Exchange> & Parameters<typeof openStream>[0]
    const stream = new ReadableStream({
      start: (to) => to.enqueue(new TextEncoder().encode(MESSAGES.begin + MESSAGES.word('hello'))),
    })
    const opened = await openStream(reading, new Response(stream), () => undefined)
    // As the relay does, once a stream has begun.
    Object.assign(request, { body: NO_BODY, asSent: NO_BODY })
    return opened
  }
  const first = await open()
  const before = held()
  const opened: StreamAnswer[] = []
  while (opened.length < STREAMS) opened.push(await open())
  await isWritten
  const during = held()
  for (const { first: text } of [first, ...opened]) expect(text).toContain('hello')
  return (during - before) / STREAMS / MB
}

/** The database, and when it has been given the prompts of all the streams. */
const database = (): { answers: AnswerStore; isWritten: Promise<void> } => {
  const { answers } = openDatabase(newPath())
  const { promise: isWritten, resolve } = Promise.withResolvers<void>()
  let chars = 0
  return {
    isWritten,
    answers: {
      ...answers,
      async stage(staged, pieces) {
        for (const { text } of pieces) chars += text.length
        if (chars >= (STREAMS + 1) * MB) setImmediate(resolve)
        return (await answers.stage?.(staged, pieces)) ?? 0
      },
    },
  }
}

const inMemory = { answers: createAnswersInMemory(), isWritten: Promise.resolve() }

test.each([
  ['nothing of the prompt', { store: false }, () => inMemory, 0.5],
  ['nothing of the prompt, where it is kept in the database', {}, database, 0.5],
  ['the prompt once, where it is kept in memory', {}, () => inMemory, 1.5],
])('a translated stream holds %s', async (_, members, keptIn, most) => {
  const { answers, isWritten } = keptIn()
  expect(await heldBy(members, answers, isWritten)).toBeLessThan(most)
})
