// Every recording of the wire, decoded and encoded: its content is the same, in the vendor's form.

import { describe, expect, test } from 'bun:test'
import type { ErrorCode } from '../../../src/errors.ts'
import type { ChatEvent, ChatResponse } from '../../../src/ir/event.ts'
import { fold, unfold } from '../../../src/ir/fold.ts'
import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'
import type { Frame } from '../../../src/lib/sse.ts'
import type { Ask, Target } from '../../../src/wire/codec.ts'
import { messages } from '../../../src/wire/messages/index.ts'
import { checkMessagesStream } from '../../support/automaton/messages.ts'
import { hasCorpus, recordedErrors, recordings, SCHEMAS, violations } from '../../support/corpus.ts'
import { decodeAll, encodeAll, framesOf } from '../../support/frames.ts'

const schemas = SCHEMAS.messages
/** Requests with members of the betas. */
const BETA_REQUEST = 'AnthropicBetaMessageCreateParams.strict'
const ask: Ask = { model: 'vendorA-opus-4-8', body: {}, inputEstimate: 7, now: 1_790_000_000 }
const target: Target = { model: 'upstream', maxOutput: 1_000_000, quirks: {} }

const decodeFrames = (frames: Frame[]): ChatEvent[] => decodeAll(messages.decodeEvents(), frames)

const encodeFrames = (events: ChatEvent[]): Frame[] => framesOf(encodeAll(messages.encodeEvents(ask), events))

/** What must survive a trip through the codec; arguments count as values, not as the model spaced them. */
const essence = ({ model: _, serviceTier: __, usage: { apart: ___, ...usage }, ...rest }: ChatResponse) => ({
  ...rest,
  usage,
  parts: rest.parts.map((part) => (part.type === 'tool-call' ? { ...part, input: JSON.parse(part.input) } : part)),
})

const objects = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** What a client reads of an answer, straight from the vendor's blocks. */
const reading = (body: JsonObject) => ({
  text: objects(body.content)
    .filter(({ type }) => type === 'text')
    .map(({ text }) => text)
    .join(''),
  calls: objects(body.content)
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({ id, name, input })),
  thoughts: objects(body.content)
    .filter(({ type }) => type === 'thinking' || type === 'redacted_thinking')
    .map(({ thinking, signature, data }) => ({ thinking, signature, data })),
  others: objects(body.content).filter(
    ({ type }) => !['text', 'tool_use', 'thinking', 'redacted_thinking'].includes(String(type)),
  ),
  stop: body.stop_reason,
  stopSequence: body.stop_sequence,
})

const usageOf = (raw: Json | undefined) => {
  const usage = isObject(raw) ? raw : {}
  // Rounds billed beside the answer's own are not in its sums.
  const beside = (Array.isArray(usage.iterations) ? usage.iterations.filter(isObject) : []).filter(
    ({ type }) => type !== 'message' && type !== 'fallback_message',
  )
  const billed = (name: string): Json => {
    const sum = usage[name] ?? null
    return typeof sum === 'number' ? beside.reduce((all, round) => all + Number(round[name] ?? 0), sum) : sum
  }
  return ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens'].map(billed)
}

/** A stream's answer, put together by the plain rules of the wire and no code of ours. */
const assembled = (frames: Frame[]): JsonObject => {
  let message: JsonObject = {}
  const blocks: JsonObject[] = []
  for (const { data } of frames) {
    const event = JSON.parse(data)
    if (event.type === 'message_start') message = event.message
    else if (event.type === 'content_block_start') blocks[event.index] = { ...event.content_block, json: '' }
    else if (event.type === 'message_delta') {
      message = { ...message, ...event.delta, usage: { ...(message.usage as JsonObject), ...event.usage } }
    } else if (event.type === 'content_block_delta') {
      const block = blocks[event.index] ?? {}
      for (const member of ['text', 'thinking', 'signature', 'content']) {
        if (event.delta[member] !== undefined) block[member] = `${block[member] ?? ''}${event.delta[member]}`
      }
      if (event.delta.citation !== undefined) block.citations = [...objects(block.citations), event.delta.citation]
      if (event.delta.partial_json !== undefined) block.json = `${block.json}${event.delta.partial_json}`
    }
  }
  const content = blocks.map(({ json, ...block }) =>
    json === '' ? block : { ...block, input: JSON.parse(String(json)) },
  )
  return { ...message, content }
}

const good = recordings('messages').filter(({ status }) => status === 200)
const answers = good.filter(({ stream }) => !stream)
const streams = good.filter(({ stream }) => stream)
const requests = good.filter(({ request }) => request !== undefined)

/** Blocks of betas, which the published types of an answer do not have yet. */
const BETA = /"type":\s?"(mcp_tool_use|mcp_tool_result|compaction|advisor_tool_result)"|"name":\s?"advisor"/

if (!hasCorpus) test.skip('recordings: the corpus does not stand beside the repository', () => {})

describe.skipIf(!hasCorpus)('recorded answers', () => {
  test.each(answers.map(({ name, response }) => [name, response] as const))('%s', (_, response) => {
    const body: JsonObject = JSON.parse(response)
    const decoded = messages.decodeResponse(body)
    const encoded = messages.encodeResponse(decoded, ask)
    const vendorsOwn = violations(schemas.response, { stop_details: null, ...body })
    if (!BETA.test(JSON.stringify(body)) && vendorsOwn.length === 0)
      expect(violations(schemas.response, encoded)).toEqual([])
    expect(essence(messages.decodeResponse(encoded))).toEqual(essence(decoded))
    expect(reading(encoded)).toEqual(reading(body))
    expect(usageOf(encoded.usage)).toEqual(usageOf(body.usage))
    expect(encoded.model).toBe(ask.model)
    expect(fold(unfold(decoded))).toEqual(decoded)
  })
})

describe.skipIf(!hasCorpus)('recorded streams', () => {
  test.each(streams.map(({ name, response }) => [name, framesOf(response)] as const))('%s', (_, frames) => {
    const events = decodeFrames(frames)
    const answer = fold(events)
    const vendors = assembled(frames)
    const encoded = encodeFrames(events)
    expect(checkMessagesStream(encoded)).toEqual([])
    const old = new Set(frames.map(({ data }) => violations(schemas.event, JSON.parse(data)).join('\n')))
    for (const { data } of encoded) {
      // Blocks and citations that pass whole are as good as the vendor's own of that day.
      if (!data.includes('"type":"ping"'))
        expect(['', ...old]).toContain(violations(schemas.event, JSON.parse(data)).join('\n'))
    }
    expect(reading(assembled(encoded))).toEqual(reading(vendors))
    expect(usageOf(assembled(encoded).usage)).toEqual(usageOf(vendors.usage))
    expect(essence(fold(decodeFrames(encoded)))).toEqual(essence(answer))
    expect(essence(messages.decodeResponse(vendors))).toEqual(essence(answer))
  })
})

describe.skipIf(!hasCorpus)('recorded requests', () => {
  test.each(requests.map(({ name, request }) => [name, request ?? ''] as const))('%s', (_, asked) => {
    const body: JsonObject = JSON.parse(asked)
    const request = messages.decodeRequest(body)
    const { body: encoded, dropped } = messages.encodeRequest(request, target)
    expect(dropped).toEqual([])
    if (violations(schemas.request, body).length === 0) expect(violations(schemas.request, encoded)).toEqual([])
    else if (violations(BETA_REQUEST, body).length === 0) expect(violations(BETA_REQUEST, encoded)).toEqual([])
    expect({ ...messages.decodeRequest(encoded), model: request.model }).toEqual(request)
  })
})

describe.skipIf(!hasCorpus)('recorded errors', () => {
  test.each(recordedErrors('anthropic'))('$name', ({ name, status, body }) => {
    const error = messages.decodeError(status, body)
    expect(error.code).toBe(expectedCode(name))
    const said = isObject(body) && isObject(body.error) ? String(body.error.message) : ''
    const ours = JSON.stringify(messages.encodeError(error, 'req_1'))
    if (!said.startsWith('prompt is too long')) expect(ours).not.toContain(said)
  })
})

const expectedCode = (name: string): ErrorCode => {
  if (name.includes('prompt-is-too-long')) return 'context_length_exceeded'
  if (name.includes('413')) return 'payload_too_large'
  if (name.includes('content-policy')) return 'content_policy_violation'
  if (/429|overloaded/.test(name)) return 'service_unavailable'
  return 'upstream_error'
}
