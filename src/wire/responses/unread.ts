// What a client's items and parts say beside what is read of them: other wires cannot be told it, and list it.

import type { Json, JsonObject } from '../../ir/json.ts'
import type { OpaqueMember } from '../../ir/request.ts'
import { given } from '../read.ts'

type Read = { [type: string]: readonly string[] | undefined }

const CACHE = ['prompt_cache_breakpoint', 'cache_control']
const TEXT = ['text', ...CACHE]

/** What is read of parts that are shown to the model, by type. */
export const SHOWN: Read = {
  input_text: TEXT,
  output_text: TEXT,
  text: TEXT,
  input_image: ['image_url', 'file_id', 'detail', ...CACHE],
  input_file: ['filename', 'file_data', 'file_url', 'file_id', 'detail', ...CACHE],
}
/** The same of parts that the model has said. Log probabilities say nothing more. */
export const SAID: Read = { ...SHOWN, output_text: [...TEXT, 'annotations', 'logprobs'], refusal: ['refusal'] }
export const ITEMS: Read = {
  message: ['role', 'content', 'phase'],
  agent_message: ['author', 'recipient', 'content'],
  function_call: ['name', 'namespace', 'arguments', 'encrypted_function_args'],
  function_call_output: ['output'],
  custom_tool_call: ['name', 'namespace', 'input'],
  custom_tool_call_output: ['output'],
  local_shell_call: ['action'],
  local_shell_call_output: ['output'],
  shell_call: ['action', 'environment'],
  shell_call_output: ['output', 'max_output_length'],
  apply_patch_call: ['operation'],
  apply_patch_call_output: ['output'],
  tool_search_call: ['arguments', 'execution'],
  tool_search_output: ['tools', 'execution'],
  additional_tools: ['role', 'tools'],
  configuration_update: ['reasoning', 'text'],
}

/** Ids and states, which say nothing. */
const MARKS = new Set(['type', 'id', 'call_id', 'status', 'caller', 'agent', 'created_by'])
/** Clients' own notes for their vendor, as Codex writes on every item. */
const NOTES = /^internal_/

/** Of a message of the model's in chat-style, which would be another without its calls. */
const CALLS = new Set(['tool_calls', 'function_call'])

/** Lists what stands in the object at `path` beside the `read` members of its type; nothing of a type that is not read. */
export const listUnread = (
  object: JsonObject,
  read: readonly string[] | undefined,
  path: string,
  opaque: OpaqueMember[],
): void => {
  if (read === undefined) return
  for (const [member, value] of Object.entries(object)) {
    if (read.includes(member) || MARKS.has(member) || NOTES.test(member) || !says(value)) continue
    const calls = CALLS.has(member) ? { essential: true, advice: ADVICE } : { essential: false }
    opaque.push({ name: `${path}.${member}`, value, ...calls })
  }
}

const says = (value: Json | undefined): value is Json =>
  given(value) && value !== '' && !(Array.isArray(value) && value.length === 0)

const ADVICE = 'Send each call as an item of its own, of the type function_call.'
