// Translates every recording to the other wires: requests that the other vendors accept, and answers that the other clients
// read, with the same text, calls, stop reason and usage.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../src/errors.ts'
import type { ChatResponse, FinishReason } from '../../src/ir/event.ts'
import { fold } from '../../src/ir/fold.ts'
import type { JsonObject } from '../../src/ir/json.ts'
import type { AssistantPart } from '../../src/ir/part.ts'
import { totalTokens } from '../../src/ir/usage.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import type { Frame } from '../../src/lib/sse.ts'
import type { Ask, Target } from '../../src/wire/codec.ts'
import { CHAT_CODECS } from '../../src/wire/index.ts'
import { DECLINED } from '../../src/wire/responses/answer.ts'
import { checkChatCompletionsStream } from '../support/automaton/chat-completions.ts'
import { checkMessagesStream } from '../support/automaton/messages.ts'
import { checkResponsesStream } from '../support/automaton/responses.ts'
import { compileSchemas, hasCorpus, type Recording, recordings, SCHEMAS, violations } from '../support/corpus.ts'
import { decodeAll, encodeAll, framesOf } from '../support/frames.ts'

compileSchemas()

const CHECKS: Record<ChatWire, (frames: Frame[], body: JsonObject) => string[]> = {
  'chat-completions': (frames, body) =>
    checkChatCompletionsStream(frames, (body.stream_options as JsonObject | undefined)?.include_usage === true),
  responses: (frames) => checkResponsesStream(frames),
  messages: (frames) => checkMessagesStream(frames),
}

const target: Target = { model: 'upstream', maxOutput: 64_000, quirks: {} }
const askFor = (wire: ChatWire, stream: boolean): Ask => ({
  model: 'gateway-model',
  body: wire === 'chat-completions' && stream ? { stream, stream_options: { include_usage: true } } : { stream },
  inputEstimate: 11,
  now: 1_790_000_000,
})

/** Finish reasons that not every wire can tell apart. */
const ALIKE: Partial<Record<FinishReason, FinishReason>> = {
  'stop-sequence': 'stop',
  'context-length': 'length',
  refusal: 'content-filter',
  pause: 'stop',
}

/** Free text is the one member of an object where a wire has no custom tools. */
const inputOf = (kind: 'function' | 'custom', input: string): unknown => {
  const value: unknown = kind === 'custom' ? input : JSON.parse(input)
  const wrapped = typeof value === 'object' && value !== null && Object.keys(value).join() === 'input'
  return wrapped ? (value as { input: unknown }).input : value
}

/** Without the text that the gateway adds to a refusal without one. */
const saidIn = (part: AssistantPart): string =>
  part.type === 'text' || (part.type === 'refusal' && part.text !== DECLINED) ? part.text : ''

/** What must be the same on every wire. Usage that the vendor did not report is estimated, and not compared. */
const essence = (response: ChatResponse, figures: boolean) => ({
  text: response.parts.map(saidIn).join(''),
  calls: response.parts.flatMap((part) =>
    // A namespace is flattened into the name where a wire has none.
    part.type === 'tool-call' ? [{ name: part.name.split('__').at(-1), input: inputOf(part.kind, part.input) }] : [],
  ),
  finish: ALIKE[response.finish] ?? response.finish,
  ...(figures ? { total: totalTokens(response.usage), output: response.usage.output } : {}),
})

const crossings = CHAT_WIRES.flatMap((from) => CHAT_WIRES.filter((to) => to !== from).map((to) => [from, to] as const))
const named = (all: Recording[]): [string, Recording][] => all.map((recording) => [recording.name, recording])

describe.skipIf(!hasCorpus).each(crossings)('%s → %s', (from, to) => {
  const source = CHAT_CODECS[from]
  const other = CHAT_CODECS[to]
  const all = recordings(from)

  test.each(named(all.filter(({ request, status }) => request !== undefined && status === 200)))(
    'request %s',
    (_, { request }) => {
      const body = JSON.parse(request ?? '{}') as JsonObject
      let sent: JsonObject
      try {
        sent = other.encodeRequest(source.decodeRequest(body), target).body
      } catch (error) {
        // Members that only the client's own vendor supports are refused by name.
        expect(error).toBeInstanceOf(GatewayError)
        expect((error as GatewayError).code).toBe('invalid_request')
        expect((error as GatewayError).message.length).toBeGreaterThan(15)
        return
      }
      expect(violations(SCHEMAS[to].request, sent)).toEqual([])
    },
  )

  const whole = all.filter(
    ({ status, stream, response }) => status === 200 && !stream && JSON.parse(response).error == null,
  )
  test.each(named(whole))('answer %s', (_, { response }) => {
    let read: ChatResponse
    try {
      read = source.decodeResponse(JSON.parse(response))
    } catch (error) {
      expect(error).toBeInstanceOf(GatewayError)
      return
    }
    const body = other.encodeResponse(read, askFor(to, false))
    expect(violations(SCHEMAS[to].response, body)).toEqual([])
    expect(body.model).toBe('gateway-model')
    const figures = (read.usage.output ?? 0) > 0
    expect(essence(other.decodeResponse(body), figures)).toEqual(essence(read, figures))
  })

  test.each(named(all.filter(({ status, stream }) => status === 200 && stream)))('stream %s', (_, { response }) => {
    const ask = askFor(to, true)
    const encoder = other.encodeEvents(ask)
    const events = decodeAll(source.decodeEvents(), framesOf(response))
    const frames = framesOf(encodeAll(encoder, events))
    expect(CHECKS[to](frames, ask.body)).toEqual([])
    for (const { event, data } of frames) {
      if (data === '[DONE]' || event === 'error') continue
      expect(violations(SCHEMAS[to].event, JSON.parse(data))).toEqual([])
    }
    const failed = events.find((event) => event.type === 'error')
    if (failed) {
      expect(frames.at(-1)?.event).toBe('error')
      return
    }
    const read = fold(events)
    const figures = (read.usage.output ?? 0) > 0
    expect(essence(fold(decodeAll(other.decodeEvents(), frames)), figures)).toEqual(essence(read, figures))
  })
})
