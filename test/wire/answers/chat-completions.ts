// Answers of the chat-completions wire as its published types allow them, their streams by the rules of the wire, and
// what they say.

import type { Json, JsonObject } from '../../../src/ir/json.ts'
import type { Frame } from '../../../src/lib/sse.ts'
import { schema } from '../../support/corpus.ts'
import { schemaWalk } from '../../support/schema-walk.ts'
import type { Dice } from '../matrix/untidy/dice.ts'
import { figures, ids, input, list, number, object, SECRET, type Told, text, toolName, words } from './told.ts'

const walk = schemaWalk(schema('OpenAIChatCompletion.current'))

const call = (dice: Dice, id: () => string): JsonObject =>
  dice.one<JsonObject>(
    { id: id(), type: 'function', function: { name: toolName(dice), arguments: input(dice) } },
    { id: id(), type: 'function', function: { name: toolName(dice), arguments: input(dice) } },
    {
      id: id(),
      type: 'custom',
      custom: { name: 'apply_patch', input: dice.one('*** Begin\n+a', '', '{"input":"x"}') },
    },
  )

const choice = (dice: Dice, index: number, id: () => string): JsonObject => {
  const calls = Array.from({ length: dice.one(0, 1, 3) }, () => call(dice, id))
  const refusal = dice.one(null, null, null, 'I cannot.', '')
  const message: JsonObject = {
    role: 'assistant',
    content: dice.one<string | null>(words(dice), null, ''),
    refusal,
    ...(dice.odd() ? { annotations: [walk.some('ChatCompletionMessage.Annotation', dice)] } : { annotations: [] }),
    ...(dice.odd() ? { audio: walk.some('ChatCompletionAudio', dice) } : {}),
    ...(dice.odd() ? { reasoning_content: dice.one('Hm.', 'two\n\nparts', '') } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
  if (calls.length === 0 && dice.odd())
    message.function_call = dice.one<Json>(null, { name: toolName(dice), arguments: input(dice) })
  const called = calls.length > 0 || message.function_call != null
  const legacy = message.function_call != null
  return {
    index,
    message,
    logprobs: dice.one<Json>(null, walk.some('ChatCompletion.Choice.Logprobs', dice)),
    finish_reason: called
      ? dice.one(legacy ? 'function_call' : 'tool_calls', 'stop', 'length', 'content_filter')
      : dice.one('stop', 'length', 'content_filter'),
  }
}

export const answer = (dice: Dice): JsonObject => {
  const id = ids('call_')
  const { input: fresh, read, written, output, reasoning } = figures(dice)
  return {
    ...(walk.some('ChatCompletion', dice) as JsonObject),
    id: 'chatcmpl-Vendor',
    model: SECRET,
    created: 1_790_000_123,
    system_fingerprint: dice.one(null, `fp_${SECRET}`),
    choices: Array.from({ length: dice.one(1, 1, 1, 2, 3) }, (_, index) => choice(dice, index, id)),
    usage: {
      prompt_tokens: fresh + read + written,
      completion_tokens: output,
      total_tokens: fresh + read + written + output,
      ...(read + written === 0 && dice.odd()
        ? {}
        : {
            prompt_tokens_details: {
              cached_tokens: read,
              ...(written === 0 ? {} : { cache_write_tokens: written }),
              ...(dice.odd() ? { audio_tokens: 0, text_tokens: fresh } : {}),
            },
          }),
      ...(dice.odd()
        ? {}
        : { completion_tokens_details: { reasoning_tokens: reasoning, accepted_prediction_tokens: 0 } }),
    },
  }
}

/** `figures`: whether the request asked for the usage. */
export const frames = (answer: JsonObject, dice: Dice, figures = true): Frame[] => {
  const { choices, usage, object: _, moderation, ...rest } = answer
  const out: Frame[] = []
  const chunk = (choices: JsonObject[], more: JsonObject = figures ? { usage: null } : {}): void => {
    const head = { ...rest, object: 'chat.completion.chunk' }
    const padding = dice.odd() ? { obfuscation: SECRET } : {}
    out.push({ data: JSON.stringify({ ...head, choices, ...padding, ...more }) })
  }
  const streams = list(choices).map((choice) => deltas(choice, dice))
  // Choices may come in any mix.
  for (const one of dice.merge(streams, dice.odd())) chunk([one])
  if (moderation !== undefined) chunk([], { moderation })
  if (figures) chunk([], { usage: usage ?? null })
  out.push({ data: '[DONE]' })
  return out
}

/** The choices of a choice's chunks: C5-C8. */
const deltas = (choice: JsonObject, dice: Dice): JsonObject[] => {
  const { index, finish_reason, logprobs } = choice
  const message = object(choice.message)
  const said: JsonObject[] = [
    ...dice.cut(text(message.reasoning_content)).map((reasoning_content) => ({ reasoning_content })),
    ...dice.cut(text(message.content)).map((content) => ({ content })),
  ]
  const annotations = list(message.annotations)
  if (annotations.length > 0) said.push({ annotations })
  said.push(...dice.cut(text(message.refusal)).map((refusal) => ({ refusal })))
  if (message.audio != null) said.push({ audio: message.audio })
  const legacy = object(message.function_call)
  if (legacy.name !== undefined) {
    said.push({ function_call: { name: legacy.name, arguments: '' } })
    said.push(...dice.cut(text(legacy.arguments)).map((piece) => ({ function_call: { arguments: piece } })))
  }
  list(message.tool_calls).forEach((call, at) => {
    const kind = call.type === 'custom' ? 'custom' : 'function'
    const member = kind === 'custom' ? 'input' : 'arguments'
    const body = object(call[kind])
    said.push({ tool_calls: [{ index: at, id: call.id, type: kind, [kind]: { ...body, [member]: '' } }] })
    for (const piece of dice.cut(text(body[member])))
      said.push({ tool_calls: [{ index: at, [kind]: { [member]: piece } }] })
  })
  const all: JsonObject[] = [{ role: 'assistant', content: dice.one('', null), refusal: null }, ...said]
  const marks = dice.one<JsonObject>({ logprobs: null }, {})
  const chunks: JsonObject[] = all.map((delta) => ({ index, delta, ...marks, finish_reason: null }))
  // The log probabilities of the whole stand in the first piece of text.
  const first = chunks.find((one) => text(object(one.delta).content) !== '')
  if (first !== undefined) Object.assign(first, { logprobs })
  return [...chunks, { index, delta: {}, ...marks, finish_reason }]
}

export const told = (body: JsonObject): Told => {
  const message = object(list(body.choices)[0]?.message)
  const usage = object(body.usage)
  const inPrompt = object(usage.prompt_tokens_details)
  const read = number(inPrompt.cached_tokens)
  const written = number(inPrompt.cache_write_tokens)
  const legacy = object(message.function_call)
  const said: Told['said'] = [
    { kind: 'text', text: text(message.content) },
    { kind: 'refusal', text: text(message.refusal) },
  ]
  return {
    said: said.filter(({ text }) => text !== ''),
    thought: text(message.reasoning_content),
    calls: [
      ...(legacy.name === undefined
        ? []
        : [{ id: '', name: text(legacy.name), kind: 'function' as const, input: text(legacy.arguments) }]),
      ...list(message.tool_calls).map(({ id, type, function: called, custom }): Told['calls'][0] =>
        type === 'custom'
          ? { id: text(id), name: text(object(custom).name), kind: 'custom', input: text(object(custom).input) }
          : { id: text(id), name: text(object(called).name), kind: 'function', input: text(object(called).arguments) },
      ),
    ],
    usage: {
      input: number(usage.prompt_tokens) - read - written,
      read,
      written,
      output: number(usage.completion_tokens),
    },
  }
}

export const stopOf = (body: JsonObject): string => text(list(body.choices)[0]?.finish_reason)
