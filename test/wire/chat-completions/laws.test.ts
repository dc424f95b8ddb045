// The laws of the codec: what the wire can express is preserved, and its output is valid for any input.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../../src/errors.ts'
import type { ChatEvent } from '../../../src/ir/event.ts'
import { fold, unfold } from '../../../src/ir/fold.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { Frame } from '../../../src/lib/sse.ts'
import { chatCompletions } from '../../../src/wire/chat-completions/index.ts'
import type { Ask, Target } from '../../../src/wire/codec.ts'
import {
  chatCompletionsRequest,
  chatCompletionsResponse,
  foreignRequest,
  garbledEvents,
} from '../../support/arbitrary/chat-completions.ts'
import { checkChatCompletionsStream } from '../../support/automaton/chat-completions.ts'
import { changes } from '../../support/changes.ts'
import { SCHEMAS, violations } from '../../support/corpus.ts'
import { decodeAll, encodeAll, framesOf } from '../../support/frames.ts'

const schemas = SCHEMAS['chat-completions']
const ask = (includeUsage: boolean): Ask => ({
  model: 'vendorB-5.5',
  body: { stream_options: { include_usage: includeUsage } },
  inputEstimate: 7,
  now: 1_790_000_000,
})
const target: Target = { model: 'upstream', maxOutput: 100_000, quirks: {} }

const encode = (events: ChatEvent[], includeUsage = true): string =>
  encodeAll(chatCompletions.encodeEvents(ask(includeUsage)), events)

const decode = (frames: Frame[]): ChatEvent[] => decodeAll(chatCompletions.decodeEvents(), frames)

/** What answers say of themselves but for the gateway's model. */
const named = <T extends { model?: string }>(response: T): T => ({ ...response, model: 'vendorB-5.5' })

const terminals = (events: ChatEvent[]) => events.filter(({ type }) => type === 'finish' || type === 'error')

test('decoding an encoded request gives it back, and it matches the vendor’s schema', () => {
  fc.assert(
    fc.property(chatCompletionsRequest, (request) => {
      const { body, dropped, undo } = chatCompletions.encodeRequest(request, target)
      expect(violations(schemas.request, body)).toEqual([])
      expect(dropped).toEqual([])
      expect(changes(undo)).toEqual({})
      expect(chatCompletions.decodeRequest(body)).toEqual({ ...request, model: 'upstream' })
    }),
  )
})

/** Every call is directly followed by its results, and no result stands anywhere else. */
const unpaired = (body: JsonObject): string[] => {
  const wrong: string[] = []
  let waiting = new Set<unknown>()
  for (const message of (body.messages ?? []) as JsonObject[]) {
    if (message.role === 'tool') {
      if (!waiting.delete(message.tool_call_id)) wrong.push(`result ${message.tool_call_id} follows no call`)
      continue
    }
    if (waiting.size > 0) wrong.push(`calls ${[...waiting]} have no result`)
    waiting = new Set()
    for (const call of (message.tool_calls ?? []) as JsonObject[]) {
      if (waiting.has(call.id)) wrong.push(`id ${call.id} twice in one message`)
      if (String(call.id).length > 40 || call.id === '') wrong.push(`id ${call.id} is of no legal length`)
      waiting.add(call.id)
      const { name } = (call.function ?? call.custom) as JsonObject
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(name))) wrong.push(`name ${name}`)
    }
  }
  if (waiting.size > 0) wrong.push(`calls ${[...waiting]} have no result`)
  return wrong
}

test('any request of another wire is encoded as the vendor takes it', () => {
  fc.assert(
    fc.property(foreignRequest, fc.boolean(), (request, structuredOutputByTool) => {
      let encoded: ReturnType<typeof chatCompletions.encodeRequest>
      try {
        encoded = chatCompletions.encodeRequest(request, { ...target, quirks: { structuredOutputByTool } })
      } catch (error) {
        expect(error).toBeInstanceOf(GatewayError)
        expect((error as GatewayError).code).toBe('invalid_request')
        return
      }
      const { body, undo } = encoded
      expect(violations(schemas.request, body)).toEqual([])
      expect(unpaired(body)).toEqual([])
      const names = ((body.tools ?? []) as JsonObject[]).map(
        (tool) => ((tool.function ?? tool.custom) as JsonObject).name,
      )
      for (const [at, tool] of request.tools.entries()) {
        if (tool.type === 'opaque') continue
        const sent = String(names[at])
        expect(sent).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
        if (sent !== tool.name) expect(undo.tools?.[sent]?.name).toBe(tool.name)
      }
    }),
    { numRuns: 300 },
  )
})

test('decoding an encoded answer gives it back, and it matches the vendor’s schema', () => {
  fc.assert(
    fc.property(chatCompletionsResponse, (response) => {
      const body = chatCompletions.encodeResponse(response, ask(true))
      expect(violations(schemas.response, body)).toEqual([])
      expect(chatCompletions.decodeResponse(body)).toEqual(named(response))
    }),
  )
})

test('decoding an encoded stream gives the answer back, however its bytes are split', () => {
  fc.assert(
    fc.property(
      chatCompletionsResponse,
      fc.boolean(),
      fc.array(fc.nat(4_000), { maxLength: 6 }),
      (response, includeUsage, cuts) => {
        const out = new TextEncoder().encode(encode(unfold(response), includeUsage))
        const places = [0, ...cuts.map((cut) => cut % (out.length + 1)), out.length].sort((a, b) => a - b)
        const frames = framesOf(...places.slice(1).map((end, at) => out.subarray(places[at], end)))
        // A cut answer may leave a call's arguments open: the wire says so by its reason.
        expect(checkChatCompletionsStream(frames, includeUsage)).toEqual([])
        for (const { data } of frames)
          if (data !== '[DONE]') expect(violations(schemas.event, JSON.parse(data))).toEqual([])
        const decoded = fold(decode(frames))
        expect(decoded).toEqual(named(includeUsage ? response : { ...response, usage: {} }))
      },
    ),
  )
})

/** What the codec answers for: arguments that are no JSON are the model's own words, passed on as they are. */
const grammar = (wrong: string[]) => wrong.filter((line) => !line.includes('arguments are no JSON'))

test('any events are encoded as a valid stream with one end', () => {
  fc.assert(
    fc.property(garbledEvents, fc.boolean(), (events, includeUsage) => {
      const ended = events.some(({ type }) => type === 'finish' || type === 'error')
      const all: ChatEvent[] = ended ? events : [...events, { type: 'finish', reason: 'stop', usage: {} }]
      const frames = framesOf(encode(all, includeUsage))
      expect(grammar(checkChatCompletionsStream(frames, includeUsage))).toEqual([])
    }),
    { numRuns: 500 },
  )
})

const odd = fc.oneof(
  fc.constantFrom(
    '',
    '[DONE]',
    '{',
    'null',
    '[]',
    '{"choices":[]}',
    '{"error":null}',
    '{"error":"x"}',
    '{"error":{"message":"m"}}',
  ),
  fc.json(),
  fc
    .record({
      delta: fc.oneof(
        fc.anything(),
        fc.record({ content: fc.anything(), tool_calls: fc.anything(), reasoning_details: fc.anything() }),
      ),
      finish_reason: fc.constantFrom(null, 'stop', 'tool_calls', '', 'odd'),
    })
    .map((choice) => JSON.stringify({ id: 'x', choices: [choice] })),
)

test('any frames decode to events with one end, the last', () => {
  fc.assert(
    fc.property(fc.array(odd, { maxLength: 12, size: 'max' }), (texts) => {
      const events = decode(texts.map((data) => ({ data })))
      expect(terminals(events)).toHaveLength(1)
      expect(['finish', 'error']).toContain(events.at(-1)?.type ?? '')
      const frames = framesOf(encode(events))
      expect(grammar(checkChatCompletionsStream(frames))).toEqual([])
    }),
    { numRuns: 500 },
  )
})

test('a stream cut before it has told its reason and figures is a failure, never a shorter answer', () => {
  fc.assert(
    fc.property(chatCompletionsResponse, fc.nat(), (response, cut) => {
      const frames = framesOf(encode(unfold(response)))
      const kept = frames.slice(0, cut % frames.length)
      // Servers that leave out [DONE] end there.
      const isTold = kept.length === frames.length - 1
      expect(terminals(decode(kept)).map(({ type }) => type)).toEqual([isTold ? 'finish' : 'error'])
    }),
  )
})
