// Answers that have only been announced: nothing of that goes to a client until something of the answer comes, or a while has
// passed. However a stream is cut into chunks, the same becomes of it.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../src/errors.ts'
import type { JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { createTurns } from '../../src/lib/turns.ts'
import type { Call } from '../../src/relay/call.ts'
import type { StreamAnswer } from '../../src/relay/reading.ts'
import { readToFirstOutput } from '../../src/relay/stream-answer.ts'
import { translateStream } from '../../src/relay/translate.ts'
import type { Tap } from '../../src/wire/codec.ts'
import { CODECS, chatCodec } from '../../src/wire/index.ts'

const event = (data: JsonObject): string =>
  `${data.type === undefined ? '' : `event: ${data.type}\n`}data: ${JSON.stringify(data)}\n\n`

const chunk = (delta: JsonObject, reason: string | null = null): string =>
  event({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] })
const response = { id: 'resp_1', object: 'response', status: 'in_progress', model: 'm', output: [] }
const placed = { output_index: 0, item_id: 'i_1', content_index: 0 }
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null }

/** What announces an answer, what begins one, its end, and a failure. */
const SAID: Record<ChatWire, { announced: string[]; begun: string[]; end: string; failure: string }> = {
  'chat-completions': {
    announced: [
      ': working\n\n',
      chunk({ role: 'assistant', content: '' }),
      chunk({ role: 'assistant', content: null, refusal: null, tool_calls: [] }),
      chunk({ content: '', reasoning_content: '' }),
      event({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [], prompt_filter_results: [] }),
    ],
    begun: [
      chunk({ content: 'Hello' }),
      chunk({ reasoning_content: 'Hm' }),
      chunk({ tool_calls: [{ index: 0, id: 'c_1', type: 'function', function: { name: 'look', arguments: '' } }] }),
    ],
    end: `${chunk({}, 'stop')}data: [DONE]\n\n`,
    failure: event({ error: { message: 'No.', type: 'invalid_request_error', code: 'context_length_exceeded' } }),
  },
  responses: {
    announced: [
      event({ type: 'response.in_progress', sequence_number: 1, response }),
      event({ type: 'keepalive', sequence_number: 2 }),
      event({
        ...{ type: 'response.output_item.added', sequence_number: 3, output_index: 0 },
        item: { id: 'i_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] },
      }),
      event({
        ...{ type: 'response.output_item.added', sequence_number: 4, output_index: 0 },
        item: { id: 'i_1', type: 'reasoning', summary: [], encrypted_content: 'gAAA' },
      }),
    ],
    begun: [
      event({ type: 'response.output_text.delta', sequence_number: 5, ...placed, delta: 'Hello' }),
      event({ type: 'response.output_text.delta', sequence_number: 5, delta: 'Hello' }),
      event({ type: 'response.reasoning_summary_text.delta', ...placed, summary_index: 0, delta: 'Hm' }),
      event({
        ...{ type: 'response.output_item.added', sequence_number: 5, output_index: 0 },
        item: { id: 'i_1', type: 'function_call', call_id: 'c_1', name: 'look', arguments: '' },
      }),
    ],
    end: event({ type: 'response.incomplete', response: { ...response, status: 'incomplete' } }),
    failure: event({
      type: 'response.failed',
      response: { ...response, status: 'failed', error: { code: 'context_length_exceeded', message: 'No.' } },
    }),
  },
  messages: {
    announced: [
      event({ type: 'ping' }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      event({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      }),
    ],
    begun: [
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't_1', name: 'look' } }),
    ],
    end: event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }) + event({ type: 'message_stop' }),
    failure: event({ type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long' } }),
  },
}

/** The first event of all, without which others would be none of an answer's. */
const FIRST: Record<ChatWire, string> = {
  'chat-completions': '',
  responses: event({ type: 'response.created', sequence_number: 0, response }),
  messages: event({ type: 'message_start', message }),
}

const PAIRS = CHAT_WIRES.flatMap((client) => CHAT_WIRES.map((provider) => [client, provider] as const))
const ask = { model: 'm', body: {}, inputEstimate: 3, now: 1, id: 'a' }

const tapFor = (client: ChatWire, provider: ChatWire): Tap =>
  client === provider
    ? CODECS[provider].tap({ model: 'm', includeUsage: false, now: 1 })
    : translateStream({ client: chatCodec(client), provider: chatCodec(provider), ask, undo: {} })

type Opened = { tap: Tap; answer: Promise<StreamAnswer>; heard: () => number }

const streamOf = (chunks: AsyncIterable<Uint8Array> | Uint8Array[]): ReadableStream<Uint8Array> => {
  const left = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
  return new ReadableStream(
    {
      pull: async (to) => {
        const { done, value } = await left.next()
        if (done) to.close()
        else to.enqueue(value)
      },
    },
    { highWaterMark: 0 },
  )
}

const room = { take: () => true, give: () => undefined }

const open = (chunks: AsyncIterable<Uint8Array> | Uint8Array[], [client, provider]: (typeof PAIRS)[number]): Opened => {
  const tap = tapFor(client, provider)
  let heard = 0
  const opening = {
    ...{
      relay: { room, turns: createTurns() },
      target: { provider: { timeouts: { idleMs: 60_000 } } },
      codec: CODECS[provider],
      abort: new AbortController(),
    },
    heard: () => heard++,
  } as unknown as Call & { heard: () => void }
  const answer = readToFirstOutput(new Response(streamOf(chunks)), opening, tap)
  return { tap, answer, heard: () => heard }
}

const utf8 = new TextEncoder()

/** A text's bytes, cut at any places. */
const cut = (text: string, at: readonly number[]): Uint8Array[] => {
  const bytes = utf8.encode(text)
  const places = [...new Set(at.map((one) => one % bytes.length))].sort((one, other) => one - other)
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index])).filter((one) => one.length > 0)
}

/** What its client gets, and how it ends. */
const outcome = async ({ tap, answer }: Opened): Promise<string> => {
  try {
    const { first, source } = await answer
    let text = `${first}`
    for (let read = await source.read(); read !== undefined; read = await source.read()) text += `${read}`
    return `${text}${source.end} ${tap.state} ${tap.error?.code}`
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return `refused ${error.code}`
  }
}

const some = (texts: readonly string[]) =>
  fc.array(fc.constantFrom(...texts), { maxLength: 4 }).map((all) => all.join(''))
const places = fc.array(fc.nat(), { maxLength: 12 })

describe.each(PAIRS)('%s from %s', (...pair) => {
  const { announced, begun, end, failure } = SAID[pair[1]]
  const first = FIRST[pair[1]]

  test('a failure behind nothing but announcements is one of the request', () =>
    fc.assert(
      fc.asyncProperty(some(announced), places, async (before, at) => {
        expect(await outcome(open(cut(first + before + failure, at), pair))).toBe('refused context_length_exceeded')
      }),
      { numRuns: 60 },
    ))

  test('an end behind nothing but announcements is one of the request', () =>
    fc.assert(
      fc.asyncProperty(some(announced), places, async (before, at) => {
        expect(await outcome(open(cut(`${first}${before}:\n\n`, at), pair))).toBe('refused upstream_error')
      }),
      { numRuns: 30 },
    ))

  test('whatever the chunks, the client gets the same text and the same end', () =>
    fc.assert(
      fc.asyncProperty(some(announced), some(begun), fc.constantFrom(end, failure), places, async (...said) => {
        const [before, after, last, at] = said
        const text = first + before + after + last
        expect(await outcome(open(cut(text, at), pair))).toBe(await outcome(open(cut(text, []), pair)))
      }),
      { numRuns: 60 },
    ))

  test.each(begun.map((one) => [one.slice(one.indexOf('{')).trim(), one]))(
    'a failure behind %s',
    async (_, beginning) => {
      expect(await outcome(open(cut(first + beginning + failure, []), pair))).toContain(
        ' failed context_length_exceeded',
      )
    },
  )
})

describe.each(CHAT_WIRES.map((wire) => [wire, [wire, wire] as const] as const))('%s', (wire, pair) => {
  const announcement = FIRST[wire] + SAID[wire].announced.join('')

  test('an announcement goes out after a while, its bytes as they came, and all that follows behind it', async () => {
    const { promise: pause, resolve: goOn } = Promise.withResolvers<void>()
    const chunks = async function* () {
      yield utf8.encode(announcement)
      await pause
      yield utf8.encode(SAID[wire].begun[0] + SAID[wire].end)
    }
    const opened = open(chunks(), pair)
    const { first, source } = await opened.answer
    expect(first).toBe(announcement.replace(': working\n\n', ''))
    expect(opened.heard()).toBe(1)
    goOn()
    expect(await source.read()).toContain('Hello')
    expect(await source.read()).toBeUndefined()
    expect(opened.tap.state).toBe('done')
  })

  test('a provider that announces without end is not held back for as long', async () => {
    const chunks = async function* () {
      yield utf8.encode(announcement)
      for (;;) {
        yield utf8.encode(SAID[wire].announced[1] ?? '')
        await new Promise(setImmediate)
      }
    }
    const { first } = await open(chunks(), pair).answer
    expect(`${first}`.length).toBeGreaterThan(announcement.length)
  })
})
