// Members that the wires have under different names: refusals and `x-gateway-dropped` give the client's own.

import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { ChatWire } from '../../ir/wire.ts'

const ROWS = (
  [
    ['messages', 'input', 'messages'],
    ['max_completion_tokens', 'max_output_tokens', 'max_tokens'],
    ['max_tokens', 'max_output_tokens', 'max_tokens'],
    ['stop', 'stop', 'stop_sequences'],
    ['reasoning_effort', 'reasoning', 'thinking'],
    ['reasoning_effort', 'reasoning.effort', 'output_config.effort'],
    ['reasoning.summary', 'reasoning.summary', 'thinking.display'],
    ['response_format', 'text.format', 'output_config.format'],
    ['response_format', 'text', 'output_config.format'],
    ['verbosity', 'text.verbosity', 'verbosity'],
    ['logprobs', 'include', 'logprobs'],
    ['user', 'user', 'metadata.user_id'],
    ['tools.function.strict', 'tools.strict', 'tools.strict'],
    ['web_search_options', 'tools.filters.blocked_domains', 'tools.blocked_domains'],
    ['messages.content.image_url.detail', 'input.content.detail', 'messages.content.detail'],
    ['messages.content.image_url.detail', 'input.output.detail', 'messages.content.detail'],
    ['response_format.json_schema.strict', 'text.format.strict', 'output_config.format'],
    ['parallel_tool_calls', 'parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
  ] as const
).map(([chat, responses, messages]) => ({ 'chat-completions': chat, responses, messages }))

/** The name that clients of `origin` have for a member of `wire`. */
export const memberName = (origin: ChatWire, wire: ChatWire, member: string): string =>
  ROWS.find((row) => row[wire] === member)?.[origin] ?? member

/** Names under which clients of one wire write one setting; the first is the one in `ROWS`. */
const ALIKE: readonly (readonly string[])[] = [
  ['max_completion_tokens', 'max_tokens'],
  ['reasoning_effort', 'reasoning', 'thinking'],
  ['reasoning.summary', 'reasoning.generate_summary'],
  ['thinking', 'output_config.effort'],
  ['output_config.format', 'output_format'],
]

/** All names that a setting has, on each wire and by each client; of a path, its own among them. */
export const namesOfSetting = (path: string): readonly string[] => {
  const rows = ROWS.slice(1).filter((row) => Object.values(row).some((name) => name === path))
  const names = new Set([path, ...rows.flatMap((row) => Object.values(row))])
  return [...names, ...ALIKE.filter((all) => all.some((name) => names.has(name))).flat()]
}

/** The client's name for the setting at `path`: of those for one setting, the one that its body has. */
export const asWritten = (path: string, body: JsonObject): string => {
  const names = ALIKE.find(([first]) => first === path)
  return names?.find((name) => stands(name, body)) ?? path
}

const stands = (path: string, body: JsonObject): boolean => {
  let at: Json | undefined = body
  for (const name of path.split('.')) at = isObject(at) ? at[name] : undefined
  return at !== undefined && at !== null
}
