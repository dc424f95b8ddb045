// vendor_b's chat-completions requests: what the vendor refuses, and what its model reads.

import { asList, asObject, asText, type Json, type JsonObject } from '../../ir/json.ts'
import { base64Bytes, type Media, mediaSegment, type Prompt, type Segment, segment, type Tool } from '../prompt.ts'
import { asNumber, partsOf, textOf } from '../vendor.ts'
import { invalid } from './error.ts'

const afterAssistant = (body: JsonObject): JsonObject[] => {
  const turns = asList(body.messages).map(asObject)
  return turns.slice(turns.findLastIndex((turn) => turn.role === 'assistant') + 1)
}

/** The text of the last user turn. */
export const chatSaid = (body: JsonObject): string =>
  afterAssistant(body)
    .filter((turn) => turn.role === 'user')
    .map((turn) => textOf(turn.content))
    .join('\n')

/** Throws `VendorError`. */
export const readChat = (body: JsonObject): Prompt => {
  checkChat(body)
  const turns = asList(body.messages).map(asObject)
  const format = asObject(body.response_format)
  const last = afterAssistant(body)
  const maxTokens = asNumber(body.max_completion_tokens) ?? asNumber(body.max_tokens)
  const breakpoint = body.prompt_cache_key === undefined ? undefined : ('5m' as const)
  const schema =
    format.type === 'json_schema'
      ? asObject(asObject(format.json_schema).schema)
      : format.type === 'json_object'
        ? {}
        : undefined
  return {
    model: asText(body.model),
    segments: [
      ...asList(body.tools).map((tool) => segment(JSON.stringify(tool), breakpoint)),
      ...turns.flatMap((turn) => turnSegments(turn, breakpoint)),
    ],
    said: chatSaid(body),
    results: last.filter((turn) => turn.role === 'tool').map((turn) => textOf(turn.content)),
    media: last.flatMap((turn) => partsOf(turn.content).flatMap(mediaOf)),
    tools: asList(body.tools).map(asObject).map(readTool),
    choice: choiceOf(body.tool_choice),
    parallel: body.parallel_tool_calls !== false,
    ...(schema === undefined ? {} : { schema }),
    stop: typeof body.stop === 'string' ? [body.stop] : asList(body.stop).map(asText),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    reasoning: !['', 'none', 'minimal'].includes(asText(body.reasoning_effort)),
  }
}

const checkChat = (body: JsonObject): void => {
  if (asText(body.model) === '') throw invalid('you must provide a model parameter', null)
  if (!Array.isArray(body.messages))
    throw invalid("Missing required parameter: 'messages'.", 'messages', 'missing_required_parameter')
  if (body.messages.length === 0) {
    throw invalid(
      "Invalid 'messages': empty array. Expected an array with minimum length 1.",
      'messages',
      'empty_array',
    )
  }
  if (asList(body.stop).length > 4) throw invalid("Invalid 'stop': array too long.", 'stop', 'array_above_max_length')
  if (body.max_tokens !== undefined && body.max_completion_tokens !== undefined) {
    throw invalid(
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
      'max_tokens',
      'invalid_parameter_combination',
    )
  }
  if (body.stream_options !== undefined && body.stream_options !== null && body.stream !== true) {
    throw invalid("The 'stream_options' parameter is only allowed when 'stream' is enabled.", 'stream_options')
  }
  if (body.tool_choice !== undefined && asList(body.tools).length === 0) {
    throw invalid(
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      'tool_choice',
    )
  }
  const temperature = asNumber(body.temperature)
  if (temperature !== undefined && (temperature < 0 || temperature > 2)) {
    throw invalid("Invalid 'temperature': decimal outside 0..2.", 'temperature', 'decimal_above_max_value')
  }
  checkPairs(asList(body.messages).map(asObject))
}

const checkPairs = (turns: JsonObject[]): void => {
  let open: string[] = []
  let answerable: string[] = []
  turns.forEach((turn, at) => {
    const role = asText(turn.role)
    if (!['system', 'developer', 'user', 'assistant', 'tool', 'function'].includes(role)) {
      throw invalid(`Invalid value: '${role}'.`, `messages[${at}].role`, 'invalid_value')
    }
    if (role === 'tool') {
      const id = asText(turn.tool_call_id)
      if (!answerable.includes(id)) {
        throw invalid(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          `messages.[${at}].role`,
        )
      }
      open = open.filter((other) => other !== id)
      return
    }
    throwIfOpen(open, at)
    open = role === 'assistant' ? asList(turn.tool_calls).map((call) => asText(asObject(call).id)) : []
    answerable = open
    if (role === 'user') checkParts(turn, at)
  })
  throwIfOpen(open, turns.length)
}

const throwIfOpen = (open: string[], at: number): void => {
  if (open.length === 0) return
  throw invalid(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`,
    `messages.[${at}].role`,
  )
}

const checkParts = (turn: JsonObject, at: number): void => {
  if (turn.content === undefined || turn.content === null) {
    throw invalid(`Invalid value for 'content': expected a string, got null.`, `messages.[${at}].content`)
  }
  for (const part of partsOf(turn.content)) {
    const url = asText(asObject(part.image_url).url)
    if (part.type === 'image_url' && !/^(https?:\/\/|data:image\/[a-z+]+;base64,[A-Za-z0-9+/]+=*$)/.test(url)) {
      throw invalid('Invalid image URL.', `messages.[${at}].content`, 'invalid_image_url')
    }
  }
}

const readTool = (tool: JsonObject): Tool => {
  const custom = asObject(tool.custom)
  if (tool.type === 'custom') return { name: asText(custom.name), schema: {}, custom: true }
  const declared = asObject(tool.function)
  return { name: asText(declared.name), schema: asObject(declared.parameters), custom: false }
}

const choiceOf = (choice: Json | undefined): Prompt['choice'] => {
  if (choice === 'none' || choice === 'required') return choice
  const { type, function: named, custom, allowed_tools: allowed } = asObject(choice)
  if (type === 'function') return { name: asText(asObject(named).name) }
  if (type === 'custom') return { name: asText(asObject(custom).name) }
  if (type === 'allowed_tools') return asObject(allowed).mode === 'required' ? 'required' : 'auto'
  return 'auto'
}

/** A `data:` URL by its type and size, any other by its address. */
export const mediaOfUrl = (url: string, otherwise: string): Media => {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  return mediaType === undefined || data === undefined
    ? { mediaType: otherwise, url }
    : { mediaType, bytes: base64Bytes(data) }
}

const mediaOf = (part: JsonObject): Media[] => {
  if (part.type === 'image_url') return [mediaOfUrl(asText(asObject(part.image_url).url), 'image/*')]
  if (part.type === 'file') {
    const file = asObject(part.file)
    return [mediaOfUrl(asText(file.file_data) || asText(file.file_id), 'application/pdf')]
  }
  if (part.type === 'input_audio') {
    const audio = asObject(part.input_audio)
    return [{ mediaType: `audio/${asText(audio.format)}`, bytes: base64Bytes(asText(audio.data)) }]
  }
  return []
}

const turnSegments = (turn: JsonObject, breakpoint: '5m' | undefined): Segment[] => {
  const { role, content, ...rest } = turn
  const parts = partsOf(content).map((part) => {
    const [media] = mediaOf(part)
    return media ? mediaSegment(media, breakpoint) : segment(asText(part.text) || asText(part.refusal), breakpoint)
  })
  const calls = Object.keys(rest).length > 0 ? [segment(JSON.stringify({ role, ...rest }), breakpoint)] : []
  return [...parts, ...calls]
}
