// A client of the chat-completions wire: how it asks, and what it reads.

import { isObject, type Json, type JsonObject } from '../../../../src/ir/json.ts'
import { openaiAnswered } from '../../../support/answered.ts'
import type { Ask, ClientView, Said, Shown, Tool, Turn } from '../story.ts'

const shown = (part: Shown): JsonObject => {
  if ('imageUrl' in part) return { type: 'image_url', image_url: { url: part.imageUrl } }
  if ('image' in part) return { type: 'image_url', image_url: { url: `data:image/png;base64,${part.image}` } }
  if ('pdf' in part)
    return { type: 'file', file: { filename: part.name, file_data: `data:application/pdf;base64,${part.pdf}` } }
  if ('file' in part) {
    const data = Buffer.from(part.file, 'utf8').toString('base64')
    return { type: 'file', file: { filename: part.name, file_data: `data:text/plain;base64,${data}` } }
  }
  return { type: 'text', text: part.text }
}

const content = (parts: Shown[]): Json => {
  const [only] = parts
  return parts.length === 1 && only !== undefined && 'text' in only ? only.text : parts.map(shown)
}

const messages = (turn: Turn): JsonObject[] => {
  if (turn.role === 'system') return [{ role: 'system', content: content(turn.parts) }]
  if (turn.role === 'assistant') return [assistant(turn.parts)]
  const results = turn.parts.filter((part) => 'result' in part)
  const parts = turn.parts.filter((part): part is Shown => !('result' in part))
  return [
    ...results.map(({ of, result }) => ({ role: 'tool', tool_call_id: of, content: content(result) })),
    ...(parts.length === 0 ? [] : [{ role: 'user', content: content(parts) }]),
  ]
}

const assistant = (pieces: Said[]): JsonObject => {
  const text = pieces.flatMap((piece) => ('text' in piece ? [piece.text] : [])).join('')
  const thought = pieces.flatMap((piece) => ('thought' in piece ? [piece.thought] : [])).join('')
  const refusal = pieces.flatMap((piece) => ('refusal' in piece ? [piece.refusal] : [])).join('')
  const calls = pieces.filter((piece) => 'call' in piece)
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(refusal === '' ? {} : { refusal }),
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ call: id, name, input, custom }) =>
            custom
              ? { id, type: 'custom', custom: { name, input } }
              : { id, type: 'function', function: { name, arguments: input } },
          ),
        }),
  }
}

const tool = ({ name, description, schema, strict, custom }: Tool): JsonObject => {
  const about = description === undefined ? {} : { description }
  if (custom) return { type: 'custom', custom: { name, ...about } }
  return {
    type: 'function',
    function: {
      name,
      ...about,
      ...(schema === undefined ? {} : { parameters: schema }),
      ...(strict ? { strict } : {}),
    },
  }
}

export const request = (ask: Ask, model: string, stream: boolean): JsonObject => ({
  model,
  messages: ask.turns.flatMap(messages),
  max_completion_tokens: ask.maxOutput ?? 1_000,
  ...(ask.tools === undefined ? {} : { tools: ask.tools.map(tool) }),
  ...(ask.choice === undefined
    ? {}
    : {
        tool_choice:
          typeof ask.choice === 'object' ? { type: 'function', function: { name: ask.choice.tool } } : ask.choice,
      }),
  ...(ask.parallel === undefined ? {} : { parallel_tool_calls: ask.parallel }),
  ...(ask.stop === undefined ? {} : { stop: ask.stop }),
  ...(ask.effort === undefined ? {} : { reasoning_effort: ask.effort }),
  ...(ask.temperature === undefined ? {} : { temperature: ask.temperature }),
  ...(ask.user === undefined ? {} : { user: ask.user }),
  ...(ask.schema === undefined
    ? {}
    : {
        response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: ask.schema, strict: true } },
      }),
  ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
  ...ask.extra?.['chat-completions'],
})

const ANY = { model: 'm', messages: [{ role: 'user' as const, content: 'x' }] }

/** The answer as the official SDK gathers it. Throws where the SDK does. */
export const gather = async (text: string, stream: boolean): Promise<JsonObject> => {
  if (!stream)
    return JSON.parse(JSON.stringify(await openaiAnswered(text, 'application/json').chat.completions.create(ANY)))
  const helper = openaiAnswered(text).chat.completions.stream({
    ...ANY,
    stream_options: { include_usage: true },
  })
  const whole = JSON.parse(JSON.stringify(await helper.finalChatCompletion()))
  return withMarks(whole, text)
}

// The helper keeps the last of the members it does not know: they are gathered here as servers of this kind mean them.
const withMarks = (whole: JsonObject, text: string): JsonObject => {
  const message = (whole.choices as { message: JsonObject }[])[0]?.message ?? {}
  delete message.reasoning_content
  delete message.annotations
  let thought = ''
  const annotations: Json[] = []
  const details: Json[] = []
  const images: Json[] = []
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: {')) continue
    const delta = JSON.parse(line.slice('data: '.length)).choices?.[0]?.delta ?? {}
    if (typeof delta.reasoning_content === 'string') thought += delta.reasoning_content
    if (Array.isArray(delta.annotations)) annotations.push(...delta.annotations)
    if (Array.isArray(delta.images)) images.push(...delta.images)
    if (Array.isArray(delta.reasoning_details)) details.push(...delta.reasoning_details)
  }
  if (thought !== '') message.reasoning_content = thought
  if (annotations.length > 0) message.annotations = annotations
  if (images.length > 0) message.images = images
  if (details.length > 0) message.reasoning_details = details
  return whole
}

export const viewOf = (body: JsonObject): ClientView => {
  const [choice] = Array.isArray(body.choices) ? body.choices.filter(isObject) : []
  const message = isObject(choice?.message) ? choice.message : {}
  const usage = isObject(body.usage) ? body.usage : {}
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
  const cites = Array.isArray(message.annotations) ? message.annotations.filter(isObject) : []
  const images = Array.isArray(message.images) ? message.images.filter(isObject) : []
  return {
    ...(message.reasoning_content == null ? {} : { thought: message.reasoning_content }),
    content: message.content || null,
    ...(message.refusal == null ? {} : { refusal: message.refusal }),
    ...(calls.length === 0 ? {} : { calls: calls.map(tellCall) }),
    ...(cites.length === 0
      ? {}
      : { cites: cites.map(({ url_citation: cited }) => (isObject(cited) ? (cited.url ?? null) : null)) }),
    ...(images.length === 0
      ? {}
      : { drawn: images.map(({ image_url: held }) => (isObject(held) ? (held.url ?? null) : null)) }),
    finish: choice?.finish_reason ?? null,
    usage: {
      prompt: usage.prompt_tokens ?? 0,
      read: details.cached_tokens ?? 0,
      written: details.cache_write_tokens ?? 0,
      completion: usage.completion_tokens ?? 0,
    },
  }
}

const tellCall = ({ type, function: called, custom }: JsonObject): JsonObject => {
  const call = isObject(called) ? called : isObject(custom) ? custom : {}
  return {
    type: type ?? null,
    name: call.name ?? null,
    input: (type === 'custom' ? call.input : call.arguments) ?? null,
  }
}

export const total = (body: JsonObject): number => {
  const usage = isObject(body.usage) ? body.usage : {}
  return Number(usage.total_tokens ?? Number.NaN)
}
