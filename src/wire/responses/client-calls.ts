// Calls of the tools that the client runs itself, and their results: from the wire's items to calls and results of
// functions, and back. Models of other vendors are less strict about the arguments: whatever they write becomes an item
// that the client can run or answer.

import { invalidRequest } from '../../errors.ts'
import {
  asList,
  asObject,
  asText,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
  parseObject,
} from '../../ir/json.ts'
import type { FoundTool, ToolCallPart, ToolResultPart } from '../../ir/part.ts'
import { isWhole } from '../../ir/whole.ts'
import { seenObject } from '../../lib/json-reader.ts'
import { given, optionalObject, optionalString, readName } from '../read.ts'
import { callInput } from '../tools/call-input.ts'
import type { ClientTool, ClientTools } from './client-tools.ts'
import { argumentsText } from './output.ts'

const CALLS = new Map<Json | undefined, ClientTool>([
  ['local_shell_call', 'local_shell'],
  ['shell_call', 'shell'],
  ['apply_patch_call', 'apply_patch'],
  ['tool_search_call', 'tool_search'],
])

/** The client's tool that an item calls; undefined for a call that the provider ran itself, or in a container. */
export const calledTool = (item: JsonObject): ClientTool | undefined => {
  const { type, environment } = item
  if (type === 'tool_search_call' && !isClientSearch(item)) return undefined
  return isObject(environment) && environment.type !== 'local' ? undefined : CALLS.get(type)
}

/** Whether a search, or what it found, is the client's: the provider's own have no call id. */
export const isClientSearch = ({ execution, call_id: id }: JsonObject): boolean => execution === 'client' && given(id)

/** The client's tool that a model's call is for, where such calls have items of their own. */
export const toolOf = (
  { name, kind, namespace }: Pick<ToolCallPart, 'name' | 'kind' | 'namespace'>,
  tools: ClientTools,
): ClientTool | undefined => (kind === 'function' && namespace === undefined ? tools.kindOf(name) : undefined)

/**
 * Whether a call's arguments break off: its item has no form for that. `cut`: the answer may have ended within the call,
 * so that empty arguments count as broken off.
 */
export const isTruncated = (input: string, cut: boolean): boolean =>
  !isWhole(input) || (cut && seenObject(input)?.isFilled !== true)

/** Whether an item is a call for the client to run. */
export const isCall = (item: JsonObject): boolean =>
  item.type === 'function_call' || item.type === 'custom_tool_call' || calledTool(item) !== undefined

const idOf = (item: JsonObject, path: string): string =>
  readName(given(item.call_id) ? item.call_id : item.id, `${path}.call_id`)

/** The members of an object that are neither absent nor null. */
const presentMembers = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => given(value)))

export const decodeClientCall = (
  item: JsonObject,
  kind: ClientTool,
  tools: ClientTools,
  path: string,
): ToolCallPart => ({
  type: 'tool-call',
  id: idOf(item, path),
  name: tools.nameOf(kind),
  kind: 'function',
  input: kind === 'tool_search' ? argumentsText(item.arguments) : JSON.stringify(argumentsOf(item, kind, path)),
  native: item,
})

const argumentsOf = (item: JsonObject, kind: ClientTool, path: string): JsonObject => {
  if (kind === 'apply_patch') return presentMembers(optionalObject(item.operation, `${path}.operation`) ?? {})
  const { type: _, ...action } = presentMembers(optionalObject(item.action, `${path}.action`) ?? {})
  return action
}

/** `callId`: the call's id where the item has none. `parts`: the output as text or as content, like a function's. */
export const clientResult = (
  item: JsonObject,
  callId: string | undefined,
  parts: ToolResultPart['parts'],
  path: string,
): ToolResultPart => {
  const failed = item.type === 'apply_patch_call_output' && item.status === 'failed'
  return {
    type: 'tool-result',
    callId: callId ?? idOf(item, path),
    kind: 'function',
    parts: parts.length > 0 ? parts : [{ type: 'text', text: NO_OUTPUT.get(failed ? 'failed' : item.type) ?? '' }],
    ...(failed ? { isError: true } : {}),
    native: item,
  }
}

/** The result of a search: the tools themselves are in the request's list. */
export const searchResult = (item: JsonObject, found: FoundTool[], path: string): ToolResultPart => ({
  type: 'tool-result',
  callId: idOf(item, path),
  kind: 'function',
  parts: [],
  found,
  native: item,
})

/** The text of a result without output, by the item's type. */
const NO_OUTPUT = new Map<Json | undefined, string>([
  ['apply_patch_call_output', 'The patch was applied.'],
  ['failed', 'The patch could not be applied.'],
  ['shell_call_output', 'No command was run.'],
])

/** The output of shell commands and how they ended, as text for the model. */
export const shellText = ({ output, max_output_length: most }: JsonObject, path: string): string => {
  if (typeof output === 'string' || !given(output)) return output ?? ''
  if (!Array.isArray(output)) throw invalidRequest(`'${path}.output' must be an array.`, `${path}.output`)
  const max = count(most) ?? Number.POSITIVE_INFINITY
  return output
    .map((entry, at) => {
      if (!isObject(entry)) return asText(entry)
      const end = endOf(entry.outcome, optionalString(entry.stderr, `${path}.output.${at}.stderr`) ?? '')
      const wrote = optionalString(entry.stdout, `${path}.output.${at}.stdout`) ?? ''
      const about = [output.length > 1 ? `Command ${at + 1}` : '', end.how].filter((word) => word !== '').join(': ')
      const text = [wrote, end.stderr].filter((part) => part !== '').join('\n')
      return [about, shortened(text, max)].filter((part) => part !== '').join('\n')
    })
    .join('\n\n')
}

const endOf = (outcome: Json | undefined, stderr: string): { how: string; stderr: string } => {
  const { type, exit_code: code } = asObject(outcome)
  return {
    how: type === 'timeout' ? 'timed out' : given(code) ? `exit code ${JSON.stringify(code)}` : '',
    stderr: stderr === '' ? '' : `stderr:\n${stderr}`,
  }
}

/** At most `max` characters: the middle is left out. Well-formed, as providers refuse half a surrogate pair. */
const shortened = (text: string, max: number): string => {
  if (text.length <= max) return text
  const head = text.slice(0, Math.ceil(max / 2))
  const tail = text.slice(text.length - Math.floor(max / 2))
  return `${head}\n[${text.length - max} characters left out]\n${tail}`.toWellFormed()
}

/** The item of a call that has ended. `begun`: the item as it is announced, without the call's content. */
type ClientCall = {
  item: JsonObject
  begun: JsonObject
  /** The commands of a `shell` call, which are streamed one by one. */
  commands: string[]
}

/** The prefixes of the items' ids. */
export const OWN_PREFIX: Record<ClientTool, string> = {
  local_shell: 'lsh_',
  shell: 'sh_',
  apply_patch: 'apc_',
  tool_search: 'tsc_',
}

/** `id`: the item's own. `input`: the JSON of an object, or ''. */
export const clientCall = (kind: ClientTool, id: string, callId: string, input: string): ClientCall => {
  const written = parseObject(input) ?? {}
  const head = { id, type: `${kind}_call`, call_id: callId === '' ? `call_${id}` : callId }
  const made = (begun: JsonObject, members: JsonObject, commands: string[] = []): ClientCall => ({
    begun: { ...head, status: 'in_progress', ...begun },
    item: { ...head, status: 'completed', ...members },
    commands,
  })
  switch (kind) {
    case 'local_shell': {
      const action = { type: 'exec', command: [], env: {} }
      return made({ action }, { action: { ...action, ...localAction(written) } })
    }
    case 'shell': {
      const commands = stringsIn(given(written.commands) ? written.commands : written.command) ?? ['']
      const limits = { timeout_ms: count(written.timeout_ms), max_output_length: count(written.max_output_length) }
      const environment = { type: 'local' }
      return made(
        { action: { commands: [], ...limits }, environment },
        { action: { commands, ...limits }, environment },
        commands,
      )
    }
    case 'apply_patch': {
      const operation = operationIn(isObject(written.operation) ? written.operation : written)
      const begun = operation.diff === undefined ? operation : { ...operation, diff: '' }
      return made({ operation: begun }, { operation })
    }
    case 'tool_search':
      return made(
        { execution: 'client', arguments: {} },
        { execution: 'client', arguments: callInput('function', input) },
      )
  }
}

const count = (value: Json | undefined): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.round(value) : null

/** A list of strings, also where it is written as JSON in a string; any other string is a list of one. */
const stringsIn = (value: Json | undefined): string[] | undefined => {
  if (typeof value === 'string') return parseStrings(value) ?? [value]
  const lines = asList(value).filter((line) => typeof line === 'string')
  return lines.length === 0 ? undefined : lines
}

const parseStrings = (text: string): string[] | undefined => {
  const list = parseJson(text)
  return Array.isArray(list) && list.length > 0 && list.every((line) => typeof line === 'string') ? list : undefined
}

/** A command line is run by a shell. Clients cannot answer a call without a command, so a missing one becomes ''. */
const localAction = ({
  command,
  env,
  timeout_ms: timeout,
  working_directory: directory,
  user,
}: JsonObject): JsonObject => {
  const words = typeof command === 'string' ? parseStrings(command) : stringsIn(command)
  const milliseconds = count(timeout)
  return {
    command: words ?? ['bash', '-lc', asText(command)],
    env: isObject(env)
      ? Object.fromEntries(
          Object.entries(env).flatMap(([name, value]) => (given(value) ? [[name, written(value)]] : [])),
        )
      : {},
    ...(milliseconds === null ? {} : { timeout_ms: milliseconds }),
    ...(typeof directory === 'string' && directory !== '' ? { working_directory: directory } : {}),
    ...(typeof user === 'string' && user !== '' ? { user } : {}),
  }
}

const written = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

/**
 * Clients stop at an operation without a path or a required diff, but report one that fails to the model. So an incomplete
 * operation becomes one that fails. Only a file that is named is deleted.
 */
const operationIn = ({ type, path, diff }: JsonObject): JsonObject => {
  const file = asText(path)
  const patch = asText(diff)
  if (file === '') return { type: 'update_file', path: '.', diff: NO_CHANGE }
  if (type === 'delete_file') return { type, path: file }
  if (type === 'create_file') return { type, path: file, diff: patch === '' ? EMPTY_FILE : patch }
  return { type: 'update_file', path: file, diff: patch === '' ? NO_CHANGE : patch }
}

const EMPTY_FILE = '+'
/** A section without lines, which every client refuses. */
const NO_CHANGE = '@@'
