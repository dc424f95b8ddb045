// Members of a request's messages and tools that the decoders do not read. Other wires' encoders list them as dropped, or
// refuse them where they are input for the model.

import { asList, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { OpaqueMember } from '../../ir/request.ts'
import { isStepOver, type Steps } from '../../lib/steps.ts'
import { given } from '../read.ts'
import { isBlock } from './files.ts'
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
const READ_PARTS = new Set(['text', 'input_text', 'output_text', 'image_url', 'document_url', 'file', 'input_file'])
const TOOL = new Set(['type', 'function', 'custom', 'cache_control'])
const FUNCTION = new Set(['name', 'description', 'parameters', 'strict'])
/** Functions may hold the cache marker, too. */
const MARKED = new Set([...FUNCTION, 'cache_control'])
const CUSTOM = new Set(['name', 'description', 'format'])
const FLAT = new Set(['type', 'cache_control', 'input_schema', ...FUNCTION, ...CUSTOM])

export function* decodeExtras({ messages, tools, functions }: JsonObject): Steps<OpaqueMember[]> {
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
      if (result || isRead(part)) rest(part, PART, place)
      else if (role !== 'assistant') extras.push({ name: place, value: part, essential: true })
    }
  }
  for (const [at, message] of objects(messages)) {
    const pictured = message.role === 'assistant' && Array.isArray(message.images)
    rest(message, pictured ? ASSISTANT : MESSAGE, `messages.${at}`)
    parts(message, `messages.${at}`)
    if (isStepOver(at)) yield
  }
  for (const [at, tool] of objects(tools)) {
    if (isFlat(tool)) rest(tool, FLAT, `tools.${at}`)
    // Any other tool is kept whole.
    if (!isObject(tool.function) && !isObject(tool.custom)) continue
    rest(tool, TOOL, `tools.${at}`)
    if (isObject(tool.function)) rest(tool.function, MARKED, `tools.${at}.function`)
    if (isObject(tool.custom)) rest(tool.custom, CUSTOM, `tools.${at}.custom`)
  }
  for (const [at, tool] of objects(functions)) rest(tool, FUNCTION, `functions.${at}`)
  return extras
}

const isRead = (part: JsonObject): boolean =>
  READ_PARTS.has(String(part.type)) || isBlock(part) || (part.type === 'input_image' && given(part.image_url))

/** The objects in a list, with their indexes. */
const objects = (list: Json | undefined): [number, JsonObject][] =>
  asList(list).flatMap((one, at): [number, JsonObject][] => (isObject(one) ? [[at, one]] : []))
