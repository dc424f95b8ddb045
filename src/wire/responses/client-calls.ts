// Calls of the tools that the client carries out, and what came of them: their items as calls and results of functions,
// and back. Models of other vendors write the arguments more freely than this one's: whatever they write becomes an item
// that its client can carry out or answer.

import { invalidRequest } from '../../errors.ts'
import { isObject, type Json, type JsonObject, parseObject } from '../../ir/json.ts'
import type { ToolCallPart, ToolResultPart } from '../../ir/part.ts'
import { isWhole } from '../../ir/whole.ts'
import { given, optionalObject, optionalString, readName, stringOr } from '../read.ts'
import type { ClientTool, ClientTools } from './client-tools.ts'

const CALLS = new Map<Json | undefined, ClientTool>([
  ['local_shell_call', 'local_shell'],
  ['shell_call', 'shell'],
  ['apply_patch_call', 'apply_patch'],
])

/** The tool whose call an item is: one that its provider ran in a container is none of the client's. */
export const calledTool = ({ type, environment }: JsonObject): ClientTool | undefined =>
  isObject(environment) && environment.type !== 'local' ? undefined : CALLS.get(type)

/** The tool that a model's call is for, where the client knows such a call by an item of its own. */
export const toolOf = (
  { name, kind, namespace }: Pick<ToolCallPart, 'name' | 'kind' | 'namespace'>,
  tools: ClientTools,
): ClientTool | undefined => (kind === 'function' && namespace === undefined ? tools.kindOf(name) : undefined)

/**
 * Whether a call's arguments break off, for which its item has no word; `cut`: the answer may end within the call, so
 * that nothing may have come of them yet.
 */
export const isHalf = (input: string, cut = false): boolean =>
  !isWhole(input) || (cut && Object.keys(parseObject(input) ?? {}).length === 0)

/** Whether an item is a call that its client carries out. */
export const isCall = (item: JsonObject): boolean =>
  item.type === 'function_call' || item.type === 'custom_tool_call' || calledTool(item) !== undefined

const idOf = (item: JsonObject, path: string): string =>
  readName(given(item.call_id) ? item.call_id : item.id, `${path}.call_id`)

/** What is said of an object, without what is left open. */
const saidOf = (object: JsonObject): JsonObject =>
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
  input: JSON.stringify(argumentsOf(item, kind, path)),
  native: item,
})

const argumentsOf = (item: JsonObject, kind: ClientTool, path: string): JsonObject => {
  if (kind === 'apply_patch') return saidOf(optionalObject(item.operation, `${path}.operation`) ?? {})
  const { type: _, ...said } = saidOf(optionalObject(item.action, `${path}.action`) ?? {})
  return said
}

/** `callId`: where the item names its call by another id. `parts`: the output, where it is written as a function's is. */
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
    parts: parts.length > 0 ? parts : [{ type: 'text', text: SILENT.get(failed ? 'failed' : item.type) ?? '' }],
    ...(failed ? { isError: true } : {}),
    native: item,
  }
}

/** What is told of a result that says nothing. */
const SILENT = new Map<Json | undefined, string>([
  ['apply_patch_call_output', 'The patch was applied.'],
  ['failed', 'The patch could not be applied.'],
  ['shell_call_output', 'No command was run.'],
])

/** What commands of a shell wrote, and how they ended, as a model reads it. */
export const shellText = ({ output, max_output_length: most }: JsonObject, path: string): string => {
  if (typeof output === 'string' || !given(output)) return output ?? ''
  if (!Array.isArray(output)) throw invalidRequest(`'${path}.output' must be an array.`, `${path}.output`)
  const max = count(most) ?? Number.POSITIVE_INFINITY
  return output
    .map((entry, at) => {
      if (!isObject(entry)) return stringOr(entry, '')
      const end = endOf(entry.outcome, optionalString(entry.stderr, `${path}.output.${at}.stderr`) ?? '')
      const wrote = optionalString(entry.stdout, `${path}.output.${at}.stdout`) ?? ''
      const about = [output.length > 1 ? `Command ${at + 1}` : '', end.how].filter((word) => word !== '').join(': ')
      const said = [wrote, end.stderr].filter((part) => part !== '').join('\n')
      return [about, within(said, max)].filter((part) => part !== '').join('\n')
    })
    .join('\n\n')
}

const endOf = (outcome: Json | undefined, stderr: string): { how: string; stderr: string } => {
  const { type, exit_code: code } = isObject(outcome) ? outcome : {}
  return {
    how: type === 'timeout' ? 'timed out' : given(code) ? `exit code ${JSON.stringify(code)}` : '',
    stderr: stderr === '' ? '' : `stderr:\n${stderr}`,
  }
}

/** As much as the model wanted to read: what is in the middle goes. Providers refuse half a letter, as a cut may leave. */
const within = (text: string, max: number): string => {
  if (text.length <= max) return text
  const head = text.slice(0, Math.ceil(max / 2))
  const tail = text.slice(text.length - Math.floor(max / 2))
  return `${head}\n[${text.length - max} characters left out]\n${tail}`.toWellFormed()
}

/** A call that has ended, as its item. `begun`: as it is announced, before anything of it was written. */
export type ClientCall = {
  item: JsonObject
  begun: JsonObject
  /** Of a shell's: they are told one by one. */
  commands: string[]
}

/** What the ids of the items begin with. */
export const OWN_PREFIX: Record<ClientTool, string> = { local_shell: 'lsh_', shell: 'sh_', apply_patch: 'apc_' }

/** `id`: the item's own. `input`: an object's JSON, or nothing. */
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
      const commands = linesIn(given(written.commands) ? written.commands : written.command) ?? ['']
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
  }
}

const count = (value: Json | undefined): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.round(value) : null

/** Texts in a list, also where the list is written as a text; a text alone is a list of one. */
const linesIn = (value: Json | undefined): string[] | undefined => {
  if (typeof value === 'string') return listIn(value) ?? [value]
  const lines = Array.isArray(value) ? value.filter((line) => typeof line === 'string') : []
  return lines.length === 0 ? undefined : lines
}

const listIn = (text: string): string[] | undefined => {
  if (!text.startsWith('[')) return undefined
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) && list.length > 0 && list.every((line) => typeof line === 'string') ? list : undefined
  } catch {
    // A shell's own brackets.
    return undefined
  }
}

/** A line for a shell is given to one. Clients cannot answer a call without a command: an empty one does nothing. */
const localAction = ({
  command,
  env,
  timeout_ms: timeout,
  working_directory: folder,
  user,
}: JsonObject): JsonObject => {
  const words = typeof command === 'string' ? listIn(command) : linesIn(command)
  const milliseconds = count(timeout)
  return {
    command: words ?? ['bash', '-lc', stringOr(command, '')],
    env: isObject(env)
      ? Object.fromEntries(
          Object.entries(env).flatMap(([name, value]) => (given(value) ? [[name, asText(value)]] : [])),
        )
      : {},
    ...(milliseconds === null ? {} : { timeout_ms: milliseconds }),
    ...(typeof folder === 'string' && folder !== '' ? { working_directory: folder } : {}),
    ...(typeof user === 'string' && user !== '' ? { user } : {}),
  }
}

const asText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

/**
 * Clients end where an operation has no path, or no diff where one is due, and go on where it cannot be carried out:
 * what says too little is one of the latter. Only a file that is named is deleted.
 */
const operationIn = ({ type, path, diff }: JsonObject): JsonObject => {
  const file = stringOr(path, '')
  const patch = stringOr(diff, '')
  if (file === '') return { type: 'update_file', path: '.', diff: NO_CHANGE }
  if (type === 'delete_file') return { type, path: file }
  if (type === 'create_file') return { type, path: file, diff: patch === '' ? EMPTY_FILE : patch }
  return { type: 'update_file', path: file, diff: patch === '' ? NO_CHANGE : patch }
}

const EMPTY_FILE = '+'
/** A section without a line: no client applies it. */
const NO_CHANGE = '@@'
