// Every recording of the wire, decoded and encoded: its content is the same, in the vendor's form.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/errors.ts'
import type { ChatResponse } from '../../../src/ir/event.ts'
import { fold, unfold } from '../../../src/ir/fold.ts'
import { isObject, type JsonObject } from '../../../src/ir/json.ts'
import type { Frame } from '../../../src/lib/sse.ts'
import { chatCompletions } from '../../../src/wire/chat-completions/index.ts'
import type { Ask, Target } from '../../../src/wire/codec.ts'
import { checkChatCompletionsStream } from '../../support/automaton/chat-completions.ts'
import { hasCorpus, recordedErrors, recordings, SCHEMAS, violations } from '../../support/corpus.ts'
import { decodeAll, encodeAll, framesOf } from '../../support/frames.ts'

const schemas = SCHEMAS['chat-completions']
const ask = (body: JsonObject = {}): Ask => ({ model: 'vendorB-5.5', body, inputEstimate: 7, now: 1_790_000_000 })
const target: Target = { model: 'upstream', maxOutput: 1_000_000, quirks: {} }

const decodeFrames = (frames: Frame[]) => decodeAll(chatCompletions.decodeEvents(), frames)

/** What must survive a trip through the codec: all but the provider's own name for its model. */
const essence = ({ model: _, ...rest }: ChatResponse) => rest

const good = recordings('chat-completions').filter(({ status }) => status === 200)
const answers = good.filter(({ stream, response }) => !stream && JSON.parse(response).choices !== undefined)
const streams = good.filter(({ stream }) => stream)
const requests = good.filter(({ request }) => request !== undefined)

if (!hasCorpus) test.skip('recordings: the corpus does not stand beside the repository', () => {})

describe.skipIf(!hasCorpus)('recorded answers', () => {
  test.each(answers.map(({ name, response, request }) => [name, response, request] as const))(
    '%s',
    (_, response, asked) => {
      const body: JsonObject = JSON.parse(response)
      const decoded = chatCompletions.decodeResponse(body)
      const encoded = chatCompletions.encodeResponse(decoded, ask(JSON.parse(asked ?? '{}')))
      expect(violations(schemas.response, encoded)).toEqual([])
      expect(essence(chatCompletions.decodeResponse(encoded))).toEqual(essence(decoded))
      const choice = Array.isArray(body.choices) ? body.choices[0] : undefined
      const again = Array.isArray(encoded.choices) ? encoded.choices[0] : undefined
      if (!isObject(choice) || !isObject(again) || !isObject(choice.message) || !isObject(again.message))
        throw new Error('no choice')
      expect(again.message.content).toEqual(choice.message.content ?? null)
      expect(again.message.tool_calls).toEqual(choice.message.tool_calls)
      expect(again.message.function_call).toEqual(choice.message.function_call)
      expect(again.finish_reason).toEqual(choice.finish_reason)
      if (isObject(body.usage) && isObject(encoded.usage)) {
        expect(encoded.usage.prompt_tokens).toBe(body.usage.prompt_tokens)
        expect(encoded.usage.completion_tokens).toBe(body.usage.completion_tokens)
      }
      expect(essence(fold(unfold(decoded)))).toEqual(essence(decoded))
    },
  )
})

describe.skipIf(!hasCorpus)('recorded streams', () => {
  test.each(streams.map(({ name, response }) => [name, framesOf(response)] as const))('%s', (_, recorded) => {
    const events = decodeFrames(recorded)
    const decoded = fold(events)
    expect(events.filter(({ type }) => type === 'finish' || type === 'error')).toHaveLength(1)
    for (const includeUsage of [true, false]) {
      const frames = framesOf(
        encodeAll(chatCompletions.encodeEvents(ask({ stream_options: { include_usage: includeUsage } })), events),
      )
      expect(checkChatCompletionsStream(frames, includeUsage)).toEqual([])
      for (const { data } of frames)
        if (data !== '[DONE]') expect(violations(schemas.event, JSON.parse(data))).toEqual([])
      const again = fold(decodeFrames(frames))
      expect({ ...essence(again), usage: {} }).toEqual({ ...essence(decoded), usage: {} })
      if (includeUsage) expect(again.usage).toEqual({ input: ask({}).inputEstimate, output: 0, ...decoded.usage })
    }
    // Cut anywhere before its figures the stream is a failure, never a shorter answer.
    const told = recorded.findIndex(({ data }) => data.includes('"usage":{'))
    for (const cut of [1, 2, Math.floor(recorded.length / 2), recorded.length - 1]) {
      const kept = recorded.slice(0, cut)
      expect(decodeFrames(kept).at(-1)?.type).toBe(told !== -1 && told < cut ? 'finish' : 'error')
    }
  })
})

describe.skipIf(!hasCorpus)('recorded requests', () => {
  test.each(requests.map(({ name, request }) => [name, request ?? ''] as const))('%s', (_, asked) => {
    const body: JsonObject = JSON.parse(asked)
    const request = chatCompletions.decodeRequest(body)
    const { body: encoded, dropped } = chatCompletions.encodeRequest(request, target)
    expect(violations(schemas.request, encoded)).toEqual([])
    expect(dropped).toEqual([])
    expect({ ...chatCompletions.decodeRequest(encoded), model: request.model }).toEqual(request)
  })
})

describe.skipIf(!hasCorpus)('recorded errors', () => {
  test.each([...recordedErrors('openai'), ...recordedErrors('azure-openai')].map((one) => [one.name, one] as const))(
    '%s keeps the provider’s text to itself',
    (_, { status, body }) => {
      const error = chatCompletions.decodeError(status, body)
      expect(error).toBeInstanceOf(GatewayError)
      expect(error.provider?.status).toBe(status)
      const text = isObject(body) && isObject(body.error) ? body.error.message : undefined
      if (typeof text === 'string')
        expect(JSON.stringify(chatCompletions.encodeError(error, 'req'))).not.toContain(text.slice(0, 30))
    },
  )
})
