// vendor_b's responses requests: what the vendor refuses, and what its model reads.

import { asList, asObject, asText, type Json, type JsonObject } from '../../ir/json.ts'
import { base64Bytes, type Media, mediaSegment, type Prompt, type Segment, segment, type Tool } from '../prompt.ts'
import { asNumber, textOf } from '../vendor.ts'
import { mediaOfUrl } from './chat-request.ts'
import { invalid } from './error.ts'

/** The request's input as items: a string is one user message; `type` may be left out of messages. */
export const inputItems = (input: Json | undefined): JsonObject[] =>
  typeof input === 'string'
    ? [{ type: 'message', role: 'user', content: input }]
    : asList(input).map((item) => ({ type: 'message', ...asObject(item) }))

const partsOf = (content: Json | undefined): JsonObject[] =>
  typeof content === 'string' ? [{ type: 'input_text', text: content }] : asList(content).map(asObject)

const CALLS = ['function_call', 'custom_tool_call']
const OUTPUTS = ['function_call_output', 'custom_tool_call_output']
const isCall = (item: JsonObject): boolean => CALLS.includes(asText(item.type))
const isOutput = (item: JsonObject): boolean => OUTPUTS.includes(asText(item.type))
const isModels = (item: JsonObject): boolean => item.role === 'assistant' || item.type === 'reasoning' || isCall(item)

const afterModel = (items: JsonObject[]): JsonObject[] => items.slice(items.findLastIndex(isModels) + 1)

/** The text of the last user turn. */
export const itemsSaid = (items: JsonObject[]): string =>
  afterModel(items)
    .filter((item) => item.type === 'message' && item.role === 'user')
    .map((item) => textOf(item.content))
    .join('\n')

/** Throws `VendorError`. `items`: the input with what `previous_response_id` stands for before it. */
export const readResponses = (body: JsonObject, items: JsonObject[]): Prompt => {
  if (asText(body.model) === '')
    throw invalid("Missing required parameter: 'model'.", 'model', 'missing_required_parameter')
  if (items.length === 0) throw invalid("Missing required parameter: 'input'.", 'input', 'missing_required_parameter')
  const cap = asNumber(body.max_output_tokens)
  if (cap !== undefined && cap < 16) {
    throw invalid(
      `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${cap} instead.`,
      'max_output_tokens',
      'integer_below_min_value',
    )
  }
  checkTools(body)
  checkPairs(items)
  const format = asObject(asObject(body.text).format)
  const schema =
    format.type === 'json_schema' ? asObject(format.schema) : format.type === 'json_object' ? {} : undefined
  const breakpoint = body.prompt_cache_key === undefined || body.prompt_cache_key === null ? undefined : ('5m' as const)
  const effort = asObject(body.reasoning).effort
  return {
    model: asText(body.model),
    segments: [
      ...asList(body.tools).map((tool) => segment(JSON.stringify(tool), breakpoint)),
      ...(typeof body.instructions === 'string' ? [segment(body.instructions, breakpoint)] : []),
      ...items.flatMap((item) => itemSegments(item, breakpoint)),
    ],
    said: itemsSaid(items),
    results: afterModel(items)
      .filter(isOutput)
      .map((item) => (typeof item.output === 'string' ? item.output : textOf(item.output))),
    media: afterModel(items).flatMap((item) => partsOf(item.content ?? item.output).flatMap(mediaOf)),
    tools: asList(body.tools)
      .map(asObject)
      .flatMap((tool) => readTool(tool)),
    choice: choiceOf(body.tool_choice),
    parallel: body.parallel_tool_calls !== false,
    ...(schema === undefined ? {} : { schema }),
    stop: [],
    ...(cap === undefined ? {} : { maxTokens: cap }),
    reasoning: typeof effort === 'string' && effort !== 'none' && effort !== 'minimal',
  }
}

const checkTools = (body: JsonObject): void => {
  asList(body.tools)
    .map(asObject)
    .forEach((tool, at) => {
      if (asText(tool.type) === '')
        throw invalid(
          `Missing required parameter: 'tools[${at}].type'.`,
          `tools[${at}].type`,
          'missing_required_parameter',
        )
      if (tool.type === 'function' && asText(tool.name) === '') {
        throw invalid(
          `Missing required parameter: 'tools[${at}].name'.`,
          `tools[${at}].name`,
          'missing_required_parameter',
        )
      }
    })
}

const checkPairs = (items: JsonObject[]): void => {
  const calls = items.filter(isCall).map((item) => asText(item.call_id))
  const outputs = items.filter(isOutput).map((item) => asText(item.call_id))
  const orphan = outputs.find((id) => !calls.includes(id))
  if (orphan !== undefined) {
    throw invalid(`No tool call found for function call output with call_id ${orphan}.`, 'input')
  }
  const open = calls.find((id) => !outputs.includes(id))
  if (open !== undefined) throw invalid(`No tool output found for function call ${open}.`, 'input')
  items.forEach((item, at) => {
    const next = items[at + 1]
    if (item.type === 'reasoning' && (next === undefined || !isModels(next))) {
      throw invalid(
        `Item '${asText(item.id)}' of type 'reasoning' was provided without its required following item.`,
        'input',
      )
    }
    checkParts(item, at)
  })
}

const checkParts = (item: JsonObject, at: number): void => {
  partsOf(item.content).forEach((part, place) => {
    const path = `input[${at}].content[${place}]`
    const allowed = item.role === 'assistant' ? /^(output_text|refusal|input_text|reasoning_text)$/ : /^input_/
    if (item.type === 'message' && !allowed.test(asText(part.type))) {
      const listed =
        item.role === 'assistant' ? "'output_text' and 'refusal'" : "'input_text', 'input_image' and 'input_file'"
      throw invalid(`Invalid value: '${asText(part.type)}'. Supported values are: ${listed}.`, path, 'invalid_value')
    }
    const url = asText(part.image_url)
    if (part.type === 'input_image' && part.file_id === undefined && !/^(https?:\/\/|data:image\/)/.test(url)) {
      throw invalid(`Invalid '${path}.image_url'. Expected a valid URL.`, `${path}.image_url`, 'invalid_value')
    }
  })
}

const readTool = (tool: JsonObject, namespace?: string): Tool[] => {
  const inside = namespace === undefined ? {} : { namespace }
  const name = asText(tool.name)
  if (tool.type === 'custom') return [{ name, schema: {}, custom: true, ...inside }]
  if (tool.type === 'namespace')
    return asList(tool.tools)
      .map(asObject)
      .flatMap((inner) => readTool(inner, name))
  return tool.type === 'function' ? [{ name, schema: asObject(tool.parameters), custom: false, ...inside }] : []
}

const choiceOf = (choice: Json | undefined): Prompt['choice'] => {
  if (choice === 'none' || choice === 'required') return choice
  const { type, name, mode } = asObject(choice)
  if (type === 'function' || type === 'custom') return { name: asText(name) }
  return type === 'allowed_tools' && mode === 'required' ? 'required' : 'auto'
}

const mediaOf = (part: JsonObject): Media[] => {
  if (part.type === 'input_image') return [mediaOfUrl(asText(part.image_url) || asText(part.file_id), 'image/*')]
  if (part.type !== 'input_file') return []
  const data = asText(part.file_data)
  if (data !== '' && !data.startsWith('data:')) return [{ mediaType: 'application/pdf', bytes: base64Bytes(data) }]
  return [mediaOfUrl(data || asText(part.file_url) || asText(part.file_id), 'application/pdf')]
}

const itemSegments = (item: JsonObject, breakpoint: '5m' | undefined): Segment[] =>
  item.type === 'message'
    ? partsOf(item.content).map((part) => {
        const [media] = mediaOf(part)
        return media ? mediaSegment(media, breakpoint) : segment(asText(part.text) || asText(part.refusal), breakpoint)
      })
    : item.type === 'reasoning'
      ? []
      : [segment(JSON.stringify({ ...item, id: undefined }), breakpoint)]
