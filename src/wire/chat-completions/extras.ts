// Members of a request's messages and tools that the decoders do not read. Other wires' encoders list them as dropped, or
// refuse them where they are input for the model.

import { asList, asObject, asObjects, isFilled, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { OpaqueMember } from '../../ir/request.ts'
import { isStepOver, type Steps } from '../../lib/steps.ts'
import { given } from '../read.ts'
import { holdsPicture, isBlock } from './files.ts'
import { isFlat } from './tools.ts'

const MESSAGE = new Set([
  'role',
  'content',
  'name',
  'refusal',
  'audio',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'thinking_blocks',
  'cache_control',
])
/** Pictures of a model's answer, which some servers give beside its content. */
const ASSISTANT = new Set([...MESSAGE, 'images'])
const PART = new Set([
  'type',
  'text',
  'refusal',
  'thinking',
  'image_url',
  'detail',
  'file',
  'document_url',
  'document_name',
  'cache_control',
  'prompt_cache_breakpoint',
  'source',
  'title',
  'context',
  'filename',
  'file_name',
  'file_data',
  'file_url',
  'file_id',
  'mime_type',
  'format',
  'tool_use_id',
  'content',
  'is_error',
])
const IMAGE = new Set(['url', 'detail'])
const FILE = new Set([
  'type',
  'prompt_cache_breakpoint',
  'cache_control',
  'filename',
  'file_name',
  'file_data',
  'file_url',
  'file_id',
  'mime_type',
  'format',
])
const UNNAMED = FILE.difference(new Set(['filename', 'file_name']))
const CALL = new Set(['type', 'id', 'index', 'function', 'custom', 'extra_content', 'cache_control'])
const CALLED = new Set(['name', 'arguments', 'input'])
const READ_PARTS = new Set(['text', 'input_text', 'output_text', 'image_url', 'document_url', 'file', 'input_file'])
const TOOL = new Set(['type', 'function', 'custom', 'cache_control'])
const FUNCTION = new Set(['name', 'description', 'parameters', 'strict'])
const SCHEMA = new Set(['name', 'description', 'schema', 'strict'])
const FORM = new Set(['type', 'json_schema', ...SCHEMA])
const GRAMMAR = new Set(['type', 'syntax', 'definition', 'grammar'])
/** Functions may hold the cache marker, too. */
const MARKED = new Set([...FUNCTION, 'cache_control'])
const CUSTOM = new Set(['name', 'description', 'format'])
const FLAT = new Set(['type', 'cache_control', 'input_schema', ...FUNCTION, ...CUSTOM])

export function* decodeExtras(body: JsonObject): Steps<OpaqueMember[]> {
  const { messages, tools, functions, response_format: form } = body
  const extras: OpaqueMember[] = []
  const rest = (value: JsonObject, known: ReadonlySet<string>, path: string): void => {
    for (const [name, member] of Object.entries(value)) {
      const empty = !given(member) || (Array.isArray(member) && member.length === 0)
      if (!known.has(name) && !empty) extras.push({ name: `${path}.${name}`, value: member, essential: false })
    }
  }
  const parts = ({ role, content }: JsonObject, path: string): void => {
    for (const [number, part] of objects(content)) {
      const place = `${path}.content.${number}`
      const result = role === 'user' && part.type === 'tool_result'
      if (result) parts({ role: 'tool', content: part.content ?? null }, place)
      if (result || isRead(part) || (role === 'assistant' && part.type === 'refusal')) {
        rest(part, PART, place)
        if (isObject(part.image_url)) rest(part.image_url, IMAGE, `${place}.image_url`)
        if (isObject(part.file)) file(part.file, `${place}.file`)
        else if (part.type === 'input_file') file(part, place)
      } else if (role !== 'assistant') extras.push({ name: place, value: part, essential: true })
    }
  }
  /** No wire's pictures have names. */
  const file = (value: JsonObject, path: string): void => rest(value, holdsPicture(value, path) ? UNNAMED : FILE, path)
  const calls = ({ tool_calls: list, function_call: old }: JsonObject, path: string): void => {
    const isOther =
      asList(list).length > 0 && !asObjects(list).some((call) => isSame(asObject(call.function), asObject(old)))
    if (isFilled(old) && isOther) extras.push({ name: `${path}.function_call`, value: old, essential: false })
    else if (isFilled(old)) rest(old, CALLED, `${path}.function_call`)
    for (const [number, call] of objects(list)) {
      const place = `${path}.tool_calls.${number}`
      rest(call, CALL, place)
      for (const kind of ['function', 'custom'] as const) {
        const called = call[kind]
        if (isObject(called)) rest(called, CALLED, `${place}.${kind}`)
      }
    }
  }
  for (const [at, message] of objects(messages)) {
    const pictured = message.role === 'assistant' && Array.isArray(message.images)
    rest(message, pictured ? ASSISTANT : MESSAGE, `messages.${at}`)
    parts(message, `messages.${at}`)
    calls(message, `messages.${at}`)
    if (isStepOver(at)) yield
  }
  for (const [at, tool] of objects(tools)) {
    if (isFlat(tool)) rest(tool, FLAT, `tools.${at}`)
    // Any other tool is kept whole.
    if (!isObject(tool.function) && !isObject(tool.custom)) continue
    rest(tool, TOOL, `tools.${at}`)
    if (isObject(tool.function)) rest(tool.function, MARKED, `tools.${at}.function`)
    if (isObject(tool.custom)) {
      const { format } = tool.custom
      rest(tool.custom, CUSTOM, `tools.${at}.custom`)
      if (isObject(format)) rest(format, GRAMMAR, `tools.${at}.custom.format`)
    }
  }
  for (const [at, tool] of objects(functions)) rest(tool, FUNCTION, `functions.${at}`)
  if (isObject(form)) {
    rest(form, FORM, 'response_format')
    if (isObject(form.json_schema)) rest(form.json_schema, SCHEMA, 'response_format.json_schema')
  }
  return extras
}

/** Some servers write one call in both forms. */
const isSame = (one: JsonObject, other: JsonObject): boolean =>
  one.name === other.name && one.arguments === other.arguments

const isRead = (part: JsonObject): boolean =>
  READ_PARTS.has(String(part.type)) || isBlock(part) || (part.type === 'input_image' && given(part.image_url))

/** The objects in a list, with their indexes. */
const objects = (list: Json | undefined): [number, JsonObject][] =>
  asList(list).flatMap((one, at): [number, JsonObject][] => (isObject(one) ? [[at, one]] : []))
