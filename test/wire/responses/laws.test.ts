// Laws of the wire: what it can express survives encoding and decoding, and output is valid whatever the input.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../../src/errors.ts'
import type { ChatEvent, ChatResponse } from '../../../src/ir/event.ts'
import { fold, unfold } from '../../../src/ir/fold.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { ChatRequest } from '../../../src/ir/request.ts'
import type { Frame } from '../../../src/lib/sse.ts'
import type { Ask, EncodedRequest, Target } from '../../../src/wire/codec.ts'
import { responses } from '../../../src/wire/responses/index.ts'
import { garbledEvents } from '../../support/arbitrary/chat-completions.ts'
import {
  foreignThought,
  ownThought,
  requestOfOthers,
  responsesAnswer,
  responsesRequest,
  streamedAnswer,
} from '../../support/arbitrary/responses.ts'
import { checkResponsesStream } from '../../support/automaton/responses.ts'
import { changes } from '../../support/changes.ts'
import { SCHEMAS, violations } from '../../support/corpus.ts'
import { decodeAll, encodeAll, framesOf } from '../../support/frames.ts'
import { strictErrors } from './support.ts'

const ask: Ask = { model: 'vendorB-5.5', body: {}, inputEstimate: 7, now: 1_790_000_000 }
const target: Target = { model: 'upstream', maxOutput: 128_000, quirks: {} }
const schemas = SCHEMAS.responses

const encode = (events: ChatEvent[]): string => encodeAll(responses.encodeEvents(ask), events)
const decode = (frames: Frame[]): ChatEvent[] => decodeAll(responses.decodeEvents(), frames)

/** Members the wire adds by itself: the gateway's model, and an id for the item of every call and thought. */
const bare = (answer: ChatResponse): unknown => {
  const { model: _, ...rest } = answer
  return {
    ...rest,
    parts: rest.parts.map((part) => {
      if (part.type === 'tool-call') {
        const { itemId: __, ...call } = part
        return call
      }
      if (part.type !== 'reasoning' || /^(?!sluice\.)./.test(String(part.seal?.value.encrypted_content ?? '')))
        return part
      const { seal: __, ...thought } = part
      return thought
    }),
  }
}

test('decoding inverts encoding of a request, which is valid for the vendor', () => {
  fc.assert(
    fc.property(responsesRequest, (request) => {
      const { body, dropped, undo } = responses.encodeRequest(request, target)
      expect(strictErrors(body)).toEqual([])
      expect(dropped).toEqual([])
      expect(changes(undo)).toEqual({})
      expect(responses.decodeRequest(body)).toEqual({ ...request, model: 'upstream' })
    }),
    { numRuns: 300 },
  )
})

/** Faults for which the provider is known to refuse a list of items. */
const refused = (input: JsonObject[]): string[] => {
  const wrong: string[] = []
  let waiting: unknown[] = []
  input.forEach((item, at) => {
    const next = input[at + 1]
    if (item.type === 'function_call' || item.type === 'custom_tool_call') {
      if (String(item.call_id).length > 64 || item.call_id === '') wrong.push(`call_id ${item.call_id}`)
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(item.name))) wrong.push(`name ${item.name}`)
      waiting.push(`${item.type} ${item.call_id}`)
    } else if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
      const call = String(item.type).replace('_output', '')
      const place = waiting.indexOf(`${call} ${item.call_id}`)
      if (place === -1) wrong.push(`result ${item.call_id} follows no call`)
      waiting = waiting.filter((_, other) => other !== place)
    } else if (item.type === 'message' && item.role !== 'assistant' && waiting.length > 0) {
      wrong.push(`calls ${waiting} have no result`)
    }
    if (item.type === 'reasoning') {
      if (item.encrypted_content === undefined) wrong.push('a thought that is not kept')
      const model = ['reasoning', 'function_call', 'custom_tool_call'].includes(String(next?.type))
      if (!model && next?.role !== 'assistant') wrong.push('a thought without its following item')
    }
    if (Array.isArray(item.content) && item.content.length === 0) wrong.push('empty content')
  })
  if (waiting.length > 0) wrong.push(`calls ${waiting} have no result`)
  return wrong
}

/** Whether the choice is possible: one of a missing tool is refused. */
const canChoose = ({ toolChoice: choice, tools }: ChatRequest): boolean => {
  if (choice === undefined || choice.type === 'auto' || choice.type === 'none') return true
  if (choice.type !== 'tool') return tools.length > 0
  return tools.some((tool) => tool.type !== 'opaque' && tool.name === choice.name)
}

/** Undefined for a conversation that is refused because nothing is left of it. */
const orNothing = (encode: () => EncodedRequest): EncodedRequest | undefined => {
  try {
    return encode()
  } catch (error) {
    if (error instanceof GatewayError && error.param === 'messages') return undefined
    throw error
  }
}

test('any request of another wire is encoded to one that the vendor accepts', () => {
  fc.assert(
    fc.property(requestOfOthers.filter(canChoose), fc.boolean(), (request, structuredOutputByTool) => {
      const encoded = orNothing(() =>
        responses.encodeRequest(request, { ...target, quirks: { structuredOutputByTool } }),
      )
      if (encoded === undefined) return
      const { body, undo } = encoded
      expect(strictErrors(body)).toEqual([])
      expect(refused(body.input as JsonObject[])).toEqual([])
      expect(body.store).toBe(false)
      expect(body.include).toEqual(['reasoning.encrypted_content'])
      const tools = (body.tools ?? []) as JsonObject[]
      request.tools.forEach((tool, at) => {
        if (tool.type === 'opaque') return
        const sent = String(tools[at]?.name)
        expect(sent).toMatch(/^[a-zA-Z0-9_-]{1,128}$/)
        expect(undo.tools?.[sent]?.name ?? sent).toBe(tool.name)
      })
      if (body.tool_choice !== undefined) expect(tools.length).toBeGreaterThan(0)
    }),
    { numRuns: 500 },
  )
})

test('decoding inverts encoding of an answer, which is valid for the vendor', () => {
  fc.assert(
    fc.property(responsesAnswer, (answer) => {
      const body = responses.encodeResponse(answer, ask)
      expect(violations(schemas.response, body)).toEqual([])
      expect(bare(responses.decodeResponse(body))).toEqual(bare(answer))
    }),
    { numRuns: 300 },
  )
})

test('decoding inverts encoding of a stream, however its bytes are chunked', () => {
  fc.assert(
    fc.property(streamedAnswer, fc.array(fc.nat(20_000), { maxLength: 8 }), (answer, cuts) => {
      const out = new TextEncoder().encode(encode(unfold(answer)))
      const places = [0, ...cuts.map((cut) => cut % (out.length + 1)), out.length].sort((a, b) => a - b)
      const frames = framesOf(...places.slice(1).map((end, at) => out.subarray(places[at], end)))
      expect(checkResponsesStream(frames)).toEqual([])
      for (const { data } of frames) expect(violations(schemas.event, JSON.parse(data))).toEqual([])
      expect(bare(fold(decode(frames)))).toEqual(bare(answer))
    }),
    { numRuns: 200 },
  )
})

test('the stream and the whole answer have the same content', () => {
  fc.assert(
    fc.property(streamedAnswer, (answer) => {
      const last = framesOf(encode(unfold(answer))).at(-1)
      expect(JSON.parse(last?.data ?? '{}').response).toEqual(responses.encodeResponse(answer, ask))
    }),
  )
})

test('a thought is sent back to its provider unchanged when a client replays the answer', () => {
  fc.assert(
    fc.property(fc.oneof(ownThought, foreignThought), fc.boolean(), (thought, streamed) => {
      const parts = [thought, { type: 'text' as const, text: 'so' }]
      const answer: ChatResponse = { id: 'msg_1', parts, finish: 'stop', usage: {} }
      const output = streamed
        ? JSON.parse(framesOf(encode(unfold(answer))).at(-1)?.data ?? '{}').response.output
        : responses.encodeResponse(answer, ask).output
      const { turns } = responses.decodeRequest({ model: 'm', input: output })
      expect(turns).toEqual([{ role: 'assistant', parts }])
    }),
  )
})

/** Faults of the codec alone: arguments that are not JSON come from the model, and are passed on unchanged. */
const grammar = (wrong: string[]) => wrong.filter((line) => !line.includes('arguments are no JSON'))

test('any sequence of events is encoded to a valid stream with one end', () => {
  fc.assert(
    fc.property(garbledEvents, (events) => {
      const ended = events.some(({ type }) => type === 'finish' || type === 'error')
      const all: ChatEvent[] = ended ? events : [...events, { type: 'finish', reason: 'stop', usage: {} }]
      const frames = framesOf(encode(all))
      expect(grammar(checkResponsesStream(frames))).toEqual([])
      // An item of a type that the schema does not have passes unchanged.
      if (frames.some(({ data }) => data.includes('server_thing'))) return
      for (const { data } of frames) expect(violations(schemas.event, JSON.parse(data))).toEqual([])
    }),
    { numRuns: 500 },
  )
})

const place = fc.record({ output_index: fc.nat(2), content_index: fc.nat(1), summary_index: fc.nat(1) })
const value = fc.oneof(
  fc.constantFrom<unknown[]>('a', '', null, 1, { a: 1 }, [], undefined),
  fc.constantFrom<unknown[]>(
    { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: 'whole' }] },
    { type: 'message', content: null },
    { type: 'function_call', name: 'f', call_id: 'c', arguments: { a: 1 } },
    { type: 'function_call', arguments: null },
    { type: 'custom_tool_call', name: 'c', input: 'x' },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'e' },
    { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'hm' }] },
    { type: 'web_search_call', id: 'ws_1' },
    { type: 'output_text', text: 'ab', annotations: [{}] },
    { type: 'refusal', refusal: 'no' },
  ),
)
const oddResponse = fc.record(
  {
    id: fc.constantFrom('resp_1', ''),
    status: fc.constantFrom('completed', 'incomplete', 'failed', 'queued', null),
    output: fc.oneof(fc.array(value, { maxLength: 3 }), fc.constant(null)),
    error: fc.constantFrom(null, { code: 'server_error', message: 'x' }),
    usage: fc.constantFrom(null, { input_tokens: 3, output_tokens: 'x' }),
  },
  { requiredKeys: [] },
)
const oddFrame = fc.oneof(
  fc.constantFrom('', '[DONE]', '{', 'null', '[]', '1', '{"error":{"message":"m"}}', '{"type":"keepalive"}'),
  fc
    .record({
      type: fc.constantFrom(
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.output_item.done',
        'response.content_part.added',
        'response.content_part.done',
        'response.output_text.delta',
        'response.output_text.annotation.added',
        'response.refusal.delta',
        'response.reasoning_summary_text.delta',
        'response.reasoning_text.delta',
        'response.function_call_arguments.delta',
        'response.custom_tool_call_input.delta',
      ),
      at: place,
      delta: value,
      item: value,
      part: value,
      annotation: value,
      response: oddResponse,
    })
    .map(({ at, ...event }) => JSON.stringify({ ...event, ...at })),
  fc
    .record({
      type: fc.constantFrom('response.completed', 'response.incomplete', 'response.failed'),
      response: oddResponse,
    })
    .map((event) => JSON.stringify(event)),
)

test('any sequence of frames decodes to one end, with nothing after it', () => {
  fc.assert(
    fc.property(fc.array(oddFrame, { maxLength: 12, size: 'max' }), (texts) => {
      const events = decode(texts.map((data) => ({ data })))
      expect(events.filter(({ type }) => type === 'finish' || type === 'error')).toHaveLength(1)
      expect(['finish', 'error']).toContain(events.at(-1)?.type ?? '')
      expect(grammar(checkResponsesStream(framesOf(encode(events))))).toEqual([])
    }),
    { numRuns: 500 },
  )
})

test('a stream cut before its end is an error, never a shorter answer', () => {
  fc.assert(
    fc.property(streamedAnswer, fc.nat(), (answer, cut) => {
      const frames = framesOf(encode(unfold(answer)))
      const events = decode(frames.slice(0, cut % frames.length))
      const last = events.at(-1)
      expect(last?.type === 'error' && last.error.code).toBe('upstream_error')
      const sent = framesOf(encode(events))
      expect(checkResponsesStream(sent)).toEqual([])
      expect(sent.at(-2)?.event).toBe('response.failed')
    }),
  )
})

test('any body decodes to an answer or to upstream_error', () => {
  fc.assert(
    fc.property(fc.oneof(oddResponse, fc.dictionary(fc.string(), fc.jsonValue())), (body) => {
      try {
        expect(Array.isArray(responses.decodeResponse(body as JsonObject).parts)).toBe(true)
      } catch (error) {
        expect(error).toBeInstanceOf(GatewayError)
      }
    }),
  )
})

test('any request decodes or is refused with invalid_request', () => {
  const member = fc.oneof(fc.jsonValue(), fc.constantFrom('x', true, 1, null))
  const body = fc.record(
    {
      model: fc.constant('m'),
      input: fc.oneof(fc.constant('hi'), fc.array(fc.oneof(member, value))),
      tools: fc.oneof(
        member,
        fc.array(fc.record({ type: fc.constantFrom('function', 'namespace', 'x'), name: member })),
      ),
      tool_choice: member,
      text: fc.oneof(member, fc.record({ format: member, verbosity: member })),
      reasoning: member,
      include: member,
      metadata: member,
      top_logprobs: member,
    },
    { requiredKeys: ['model'] },
  )
  fc.assert(
    fc.property(body, (asked) => {
      try {
        responses.encodeRequest(responses.decodeRequest(asked as JsonObject), target)
      } catch (error) {
        expect(error).toBeInstanceOf(GatewayError)
        expect((error as GatewayError).code).toBe('invalid_request')
        expect((error as GatewayError).param).toBeString()
      }
    }),
    { numRuns: 500 },
  )
})
