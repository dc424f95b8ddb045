// A client of the messages wire: how it asks, and what it reads.

import Anthropic from '@anthropic-ai/sdk'
import { isObject, type JsonObject } from '../../../../src/ir/json.ts'
import { exactly } from '../exact.ts'
import type { Ask, ClientView, Result, Said, Shown, Tool } from '../story.ts'

const cached = (part: Shown): JsonObject =>
  'cached' in part && part.cached ? { cache_control: { type: 'ephemeral' } } : {}

const shown = (part: Shown): JsonObject => {
  if ('imageUrl' in part) return { type: 'image', source: { type: 'url', url: part.imageUrl } }
  if ('image' in part) return { type: 'image', source: { type: 'base64', media_type: 'image/png', data: part.image } }
  if ('pdf' in part) {
    const source = { type: 'base64', media_type: 'application/pdf', data: part.pdf }
    return { type: 'document', title: part.name, source }
  }
  if ('file' in part) {
    return { type: 'document', title: part.name, source: { type: 'text', media_type: 'text/plain', data: part.file } }
  }
  return { type: 'text', text: part.text, ...cached(part) }
}

const result = ({ of, result: parts, failed }: Result): JsonObject => ({
  type: 'tool_result',
  tool_use_id: of,
  content: parts.map(shown),
  ...(failed ? { is_error: true } : {}),
})

const said = (piece: Said): JsonObject => {
  if ('call' in piece) return { type: 'tool_use', id: piece.call, name: piece.name, input: exactly(piece.input) }
  if ('thought' in piece) return { type: 'thinking', thinking: piece.thought, signature: piece.seal ?? '' }
  return { type: 'text', text: 'refusal' in piece ? piece.refusal : piece.text }
}

const tool = ({ name, description, schema, strict }: Tool): JsonObject => ({
  name,
  ...(description === undefined ? {} : { description }),
  input_schema: schema ?? { type: 'object', properties: {} },
  ...(strict ? { strict } : {}),
})

const CHOICES = { auto: { type: 'auto' }, none: { type: 'none' }, required: { type: 'any' } }

export const request = (ask: Ask, model: string, stream: boolean): JsonObject => {
  const [first, ...rest] = ask.turns
  const system = first?.role === 'system' ? first.parts.map(shown) : undefined
  const turns = system === undefined ? ask.turns : rest
  const { choice, parallel, effort } = ask
  const chosen =
    choice === undefined && parallel === false
      ? { type: 'auto' }
      : typeof choice === 'object'
        ? { type: 'tool', name: choice.tool }
        : choice && CHOICES[choice]
  const config: JsonObject = {}
  if (effort !== undefined) config.effort = effort
  if (ask.schema !== undefined) config.format = { type: 'json_schema', schema: ask.schema }
  return {
    model,
    max_tokens: ask.maxOutput ?? 1_000,
    ...(system === undefined ? {} : { system }),
    messages: turns.map((turn) => ({
      role: turn.role,
      content:
        turn.role === 'assistant'
          ? turn.parts.map(said)
          : turn.parts.map((part) => ('result' in part ? result(part) : shown(part))),
    })),
    ...(ask.tools === undefined ? {} : { tools: ask.tools.map(tool) }),
    ...(chosen === undefined
      ? {}
      : { tool_choice: { ...chosen, ...(parallel === false ? { disable_parallel_tool_use: true } : {}) } }),
    ...(ask.stop === undefined ? {} : { stop_sequences: ask.stop }),
    ...(effort === undefined ? {} : { thinking: { type: 'adaptive' } }),
    ...(Object.keys(config).length === 0 ? {} : { output_config: config }),
    ...(ask.temperature === undefined ? {} : { temperature: ask.temperature }),
    ...(ask.user === undefined ? {} : { metadata: { user_id: ask.user } }),
    ...(stream ? { stream } : {}),
    ...ask.extra?.messages,
  }
}

const sdk = (text: string, type: string) =>
  new Anthropic({
    apiKey: 'k',
    baseURL: 'http://127.0.0.1:9',
    maxRetries: 0,
    fetch: async () => new Response(text, { headers: { 'content-type': type } }),
  })
const ANY = { model: 'm', max_tokens: 1, messages: [{ role: 'user' as const, content: 'x' }] }

/** The answer as the official SDK gathers it. Throws where the SDK does. */
export const gather = async (text: string, stream: boolean): Promise<JsonObject> => {
  const message = stream
    ? await sdk(text, 'text/event-stream').messages.stream(ANY).finalMessage()
    : await sdk(text, 'application/json').messages.create(ANY)
  return JSON.parse(JSON.stringify(message))
}

export const viewOf = (body: JsonObject): ClientView => {
  const usage = isObject(body.usage) ? body.usage : {}
  return {
    content: Array.isArray(body.content) ? body.content.filter(isObject).map(tellBlock) : [],
    stop: [body.stop_reason, body.stop_sequence].filter((word) => word != null).join(': '),
    usage: {
      input: usage.input_tokens ?? 0,
      read: usage.cache_read_input_tokens ?? 0,
      written: usage.cache_creation_input_tokens ?? 0,
      output: usage.output_tokens ?? 0,
    },
  }
}

const tellBlock = (block: JsonObject): JsonObject => {
  const { type } = block
  switch (type) {
    case 'tool_use':
      return { type, name: block.name ?? null, input: block.input ?? null }
    case 'thinking':
      return { type, thinking: block.thinking ?? null, sealed: block.signature !== '' }
    case 'redacted_thinking':
      return { type, sealed: block.data !== '' }
    case 'text': {
      const cites = Array.isArray(block.citations) ? block.citations.filter(isObject) : []
      return {
        type,
        text: block.text ?? null,
        ...(cites.length > 0 ? { cites: cites.map(({ url }) => url ?? null) } : {}),
      }
    }
    case 'server_tool_use':
      return { type, input: block.input ?? null }
    case 'web_search_tool_result': {
      const pages = Array.isArray(block.content) ? block.content.filter(isObject) : []
      return { type, pages: pages.map(({ url }) => url ?? null) }
    }
    default:
      return block
  }
}

/** Input, cache and output together. */
export const total = (body: JsonObject): number => {
  const usage = isObject(body.usage) ? body.usage : {}
  return [
    usage.input_tokens,
    usage.cache_read_input_tokens,
    usage.cache_creation_input_tokens,
    usage.output_tokens,
  ].reduce((sum: number, count) => sum + (typeof count === 'number' ? count : 0), 0)
}
