// vendor_b's chat-completions answers: the completion as JSON, and the same completion as its chunks.

import { asList, asObject, asText, type Json, type JsonObject } from '../../ir/json.ts'
import { writeFrame } from '../../lib/sse.ts'
import { randomId } from '../id.ts'
import { type Answer, type Call, type Figures, fragments, words } from '../prompt.ts'

const finishReason = (stop: Answer['stop']): string =>
  stop === 'tool-calls' ? 'tool_calls' : stop === 'max-tokens' ? 'length' : 'stop'

export const composeCompletion = (answer: Answer, asked: JsonObject, now: number, withUsage: boolean): JsonObject => {
  const count = typeof asked.n === 'number' ? asked.n : 1
  return {
    id: randomId('chatcmpl-', 29),
    object: 'chat.completion',
    created: now,
    model: asText(asked.model),
    choices: Array.from({ length: count }, (_, index) => ({
      index,
      message: messageOf(answer),
      logprobs: asked.logprobs === true ? logprobsOf(words(answer.text)) : null,
      finish_reason: finishReason(answer.stop),
    })),
    ...(withUsage ? { usage: usageOf(answer.figures, count) } : {}),
    service_tier: 'default',
    system_fingerprint: 'fp_5b1e0c9a7d',
  }
}

const messageOf = ({ text, refusal, calls }: Answer): JsonObject => ({
  role: 'assistant',
  content: refusal !== undefined || (text === '' && calls.length > 0) ? null : text,
  ...(calls.length > 0 ? { tool_calls: calls.map(callOf) } : {}),
  refusal: refusal ?? null,
  annotations: [],
})

const callOf = ({ tool, input }: Call): JsonObject => {
  const id = randomId('call_', 24)
  return tool.custom
    ? { id, type: 'custom', custom: { name: tool.name, input } }
    : { id, type: 'function', function: { name: tool.name, arguments: input } }
}

const logprobsOf = (tokens: string[]): JsonObject => ({
  content: tokens.map((token) => ({ token, logprob: -0.25, bytes: Array.from(Buffer.from(token)), top_logprobs: [] })),
  refusal: null,
})

const usageOf = (figures: Figures, count: number): JsonObject => {
  const written = figures.cacheWrite5m + figures.cacheWrite1h
  const prompt = figures.input + figures.cacheRead + written
  return {
    prompt_tokens: prompt,
    completion_tokens: figures.output * count,
    total_tokens: prompt + figures.output * count,
    prompt_tokens_details: {
      cached_tokens: figures.cacheRead,
      audio_tokens: 0,
      ...(written > 0 ? { cache_write_tokens: written } : {}),
    },
    completion_tokens_details: {
      reasoning_tokens: figures.reasoning * count,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}

/** The chunks of a completion, choice by choice, then usage where it was asked for, then `[DONE]`. */
export function* playCompletion(completion: JsonObject, asked: JsonObject): Generator<string> {
  const options = asObject(asked.stream_options)
  const withUsage = options.include_usage === true && completion.usage !== undefined
  const { id, created, model, service_tier, system_fingerprint } = completion
  const chunk = (choices: Json[], usage: Json | undefined): string => {
    const head = { id, object: 'chat.completion.chunk', created, model, service_tier, system_fingerprint, choices }
    const padding =
      options.include_obfuscation === false || choices.length === 0 ? {} : { obfuscation: obfuscate(choices) }
    return writeFrame({ data: JSON.stringify({ ...head, ...(withUsage ? { usage } : {}), ...padding }) })
  }
  for (const choice of asList(completion.choices).map(asObject)) {
    const { index, finish_reason } = choice
    for (const delta of deltasOf(asObject(choice.message))) {
      const logprobs = asked.logprobs === true && typeof delta.content === 'string' ? logprobsOf([delta.content]) : null
      yield chunk([{ index, delta, logprobs, finish_reason: null }], null)
    }
    yield chunk([{ index, delta: {}, logprobs: null, finish_reason }], null)
  }
  if (withUsage) yield chunk([], completion.usage)
  yield writeFrame({ data: '[DONE]' })
}

function* deltasOf(message: JsonObject): Generator<JsonObject> {
  const calls = asList(message.tool_calls).map(asObject)
  yield { role: 'assistant', content: message.content === null ? null : '', refusal: null }
  for (const content of words(asText(message.content))) yield { content }
  for (const refusal of words(asText(message.refusal))) yield { refusal }
  for (const [index, call] of calls.entries()) {
    const { id, type } = call
    if (type === 'custom') {
      const { name, input } = asObject(call.custom)
      yield { tool_calls: [{ index, id, type, custom: { name, input: '' } }] }
      for (const piece of fragments(asText(input))) yield { tool_calls: [{ index, custom: { input: piece } }] }
    } else {
      const { name, arguments: text } = asObject(call.function)
      yield { tool_calls: [{ index, id, type, function: { name, arguments: '' } }] }
      for (const piece of fragments(asText(text))) yield { tool_calls: [{ index, function: { arguments: piece } }] }
    }
  }
}

/** Padding that hides the length of a token from who watches the wire. */
export const obfuscate = (seed: Json): string => 'nQ7xYp2LmK0bZ4vT'.slice(JSON.stringify(seed).length % 13)
