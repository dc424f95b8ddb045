// A client of the responses wire: how it asks, and what it reads.

import { isObject, type Json, type JsonObject } from '../../../../src/ir/json.ts'
import { openaiAnswered } from '../../../support/answered.ts'
import type { Ask, ClientView, Said, Shown, Tool, Turn } from '../story.ts'

const shown = (part: Shown): JsonObject => {
  if ('imageUrl' in part) return { type: 'input_image', detail: 'auto', image_url: part.imageUrl }
  if ('image' in part) return { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${part.image}` }
  if ('pdf' in part)
    return { type: 'input_file', filename: part.name, file_data: `data:application/pdf;base64,${part.pdf}` }
  if ('file' in part) {
    const data = Buffer.from(part.file, 'utf8').toString('base64')
    return { type: 'input_file', filename: part.name, file_data: `data:text/plain;base64,${data}` }
  }
  return { type: 'input_text', text: part.text }
}

const content = (parts: Shown[]): Json => {
  const [only] = parts
  if (parts.length === 0) return ''
  return parts.length === 1 && only !== undefined && 'text' in only ? only.text : parts.map(shown)
}

const customIds = (ask: Ask): Set<string> =>
  new Set(
    ask.turns.flatMap((turn) =>
      turn.role === 'assistant' ? turn.parts.flatMap((part) => ('call' in part && part.custom ? [part.call] : [])) : [],
    ),
  )

const items = (turn: Turn, custom: Set<string>): JsonObject[] => {
  if (turn.role === 'system') return [{ type: 'message', role: 'developer', content: content(turn.parts) }]
  if (turn.role === 'assistant') return turn.parts.map(said)
  const results = turn.parts.filter((part) => 'result' in part)
  const parts = turn.parts.filter((part): part is Shown => !('result' in part))
  return [
    ...results.map(({ of, result, own }) => ({
      type: custom.has(of) ? 'custom_tool_call_output' : 'function_call_output',
      call_id: of,
      // What a search has found stands in its tools.
      ...(own?.type === 'tool_search_output' ? {} : { output: content(result) }),
      ...own,
    })),
    ...(parts.length === 0 ? [] : [{ type: 'message', role: 'user', content: content(parts) }]),
  ]
}

const said = (piece: Said): JsonObject => {
  if ('call' in piece) {
    const { call, name, input, custom, namespace, own } = piece
    if (own !== undefined) return { call_id: call, ...own }
    const named = { call_id: call, name, ...(namespace === undefined ? {} : { namespace }) }
    return custom
      ? { type: 'custom_tool_call', input, ...named }
      : { type: 'function_call', arguments: input, ...named }
  }
  if ('thought' in piece)
    return { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: piece.thought }] }
  if ('refusal' in piece) {
    const part = { type: 'refusal', refusal: piece.refusal }
    return { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part] }
  }
  return { type: 'message', role: 'assistant', content: piece.text }
}

const tool = ({ name, description, schema, strict, custom, own }: Tool): JsonObject => {
  if (own !== undefined) return own
  const about = description === undefined ? {} : { description }
  if (custom) return { type: 'custom', name, ...about }
  return { type: 'function', name, ...about, parameters: schema ?? null, strict: strict ?? false }
}

const tools = (list: Tool[]): JsonObject[] => {
  const plain = list.filter(({ namespace }) => namespace === undefined)
  const names = [...new Set(list.flatMap(({ namespace }) => namespace ?? []))]
  return [
    ...plain.map(tool),
    ...names.map((name) => ({
      type: 'namespace',
      name,
      description: name,
      tools: list.filter(({ namespace }) => namespace === name).map(tool),
    })),
  ]
}

export const request = (ask: Ask, model: string, stream: boolean): JsonObject => {
  const [first, ...rest] = ask.turns
  const [only, ...others] = first?.role === 'system' ? first.parts : []
  const alone = only !== undefined && 'text' in only && others.length === 0
  const instructions = alone ? only.text : undefined
  const turns = instructions === undefined ? ask.turns : rest
  const custom = customIds(ask)
  return {
    model,
    ...(instructions === undefined ? {} : { instructions }),
    input: turns.flatMap((turn) => items(turn, custom)),
    max_output_tokens: ask.maxOutput ?? 1_000,
    ...(ask.tools === undefined ? {} : { tools: tools(ask.tools) }),
    ...(ask.choice === undefined
      ? {}
      : { tool_choice: typeof ask.choice === 'object' ? { type: 'function', name: ask.choice.tool } : ask.choice }),
    ...(ask.parallel === undefined ? {} : { parallel_tool_calls: ask.parallel }),
    ...(ask.effort === undefined ? {} : { reasoning: { effort: ask.effort, summary: 'auto' } }),
    ...(ask.temperature === undefined ? {} : { temperature: ask.temperature }),
    ...(ask.user === undefined ? {} : { user: ask.user }),
    ...(ask.schema === undefined
      ? {}
      : { text: { format: { type: 'json_schema', name: 'answer', schema: ask.schema, strict: true } } }),
    ...(stream ? { stream } : {}),
    ...ask.extra?.responses,
  }
}

const ANY = { model: 'm', input: 'x' }

/** The answer as the official SDK gathers it. Throws where the SDK does. */
export const gather = async (text: string, stream: boolean): Promise<JsonObject> => {
  const response = stream
    ? await openaiAnswered(text).responses.stream(ANY).finalResponse()
    : await openaiAnswered(text, 'application/json').responses.create(ANY)
  return JSON.parse(JSON.stringify(response))
}

export const viewOf = (body: JsonObject): ClientView => {
  const usage = isObject(body.usage) ? body.usage : {}
  const details = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {}
  const why = isObject(body.incomplete_details) ? [body.incomplete_details.reason] : []
  return {
    output: Array.isArray(body.output) ? tellItems(body.output.filter(isObject)) : [],
    status: [body.status, ...why].join(': '),
    usage: {
      input: usage.input_tokens ?? 0,
      read: details.cached_tokens ?? 0,
      written: details.cache_write_tokens ?? 0,
      output: usage.output_tokens ?? 0,
    },
  }
}

/** Messages side by side are told as one: how an answer is cut into them is the vendor's own. */
const tellItems = (items: JsonObject[]): JsonObject[] => {
  const out: { type: string; content?: JsonObject[]; [member: string]: Json | undefined }[] = []
  for (const item of items) {
    const told = tellItem(item)
    const last = out.at(-1)
    if (told.type === 'message' && last?.type === 'message') last.content?.push(...(told.content as JsonObject[]))
    else out.push(told as { type: string })
  }
  return out
}

const tellItem = (item: JsonObject): JsonObject => {
  const { type } = item
  switch (type) {
    case 'message':
      return { type, content: Array.isArray(item.content) ? item.content.filter(isObject).map(tellContent) : [] }
    case 'function_call':
    case 'custom_tool_call': {
      const namespace = typeof item.namespace === 'string' ? { namespace: item.namespace } : {}
      return { type, name: item.name ?? null, ...namespace, input: item.arguments ?? item.input ?? null }
    }
    case 'reasoning': {
      const summary = Array.isArray(item.summary) ? item.summary.filter(isObject).map(({ text }) => text ?? null) : []
      return { type, summary: summary.join('') }
    }
    case 'local_shell_call':
    case 'shell_call':
    case 'apply_patch_call':
      return { type, does: item.action ?? item.operation ?? null }
    case 'web_search_call': {
      const { query = null, sources } = isObject(item.action) ? item.action : {}
      const pages = Array.isArray(sources) ? sources.filter(isObject).map(({ url }) => url ?? null) : []
      return { type, query, pages }
    }
    case 'image_generation_call':
      return { type, drawn: item.result ?? null }
    case 'tool_search_call':
      return { type, execution: item.execution ?? null, searches: item.arguments ?? null }
    default:
      return item
  }
}

const tellContent = ({ type, text, refusal, annotations }: JsonObject): JsonObject => {
  const cites = Array.isArray(annotations) ? annotations.filter(isObject).map(({ url }) => url ?? null) : []
  return {
    type: type ?? null,
    text: (type === 'refusal' ? refusal : text) ?? null,
    ...(cites.length === 0 ? {} : { cites }),
  }
}

export const total = (body: JsonObject): number => {
  const usage = isObject(body.usage) ? body.usage : {}
  return Number(usage.total_tokens ?? Number.NaN)
}
