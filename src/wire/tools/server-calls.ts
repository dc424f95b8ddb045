// Calls of tools that ran at the vendor, by tool: as usage objects tell them, and as an answer's items and blocks show them.

import { asObjects, isObject, type JsonObject } from '../../ir/json.ts'
import { type ServerToolCalls, serverToolName } from '../../ir/server-tools.ts'
import { count } from '../../ir/usage.ts'

/** An answer's pieces as they came, and the same once more at its end, where some are left out. */
export const mostCalls = (one: ServerToolCalls, other: ServerToolCalls): ServerToolCalls => {
  if (isEmpty(other)) return one
  const most: ServerToolCalls = { ...one }
  for (const [name, calls] of Object.entries(other)) most[name] = Math.max(most[name] ?? 0, calls)
  return most
}

const isEmpty = (calls: ServerToolCalls): boolean => {
  for (const _ in calls) return false
  return true
}

/** Kinds of tools in one answer: a lying peer must not fill a row with names. */
const MOST_KINDS = 20
const MOST_CHARS = 64

const add = (calls: ServerToolCalls, name: string, more: number): void => {
  // Nor may a name be one that every object has.
  if (more <= 0 || name.length > MOST_CHARS || !/^[a-z][a-z0-9_]*$/.test(name) || name in {}) return
  if (!Object.hasOwn(calls, name) && Object.keys(calls).length >= MOST_KINDS) return
  calls[name] = (calls[name] ?? 0) + more
}

const take = (calls: ServerToolCalls, name: string): void => {
  const left = (calls[name] ?? 0) - 1
  if (left > 0) calls[name] = left
  else delete calls[name]
}

/** Members of a usage object that hold such counts: `web_search_requests`, `web_search_calls`, or `web_search: { invocation }`. */
const IN_USAGE = ['server_tool_use', 'server_side_tool_usage_details', 'tool_calls_details']
const COUNTED = /^(.+?)_(?:requests|calls|fetched)$/

/** As any wire's usage object tells them. */
export const callsInUsage = (raw: JsonObject | undefined): ServerToolCalls => {
  let calls: ServerToolCalls = {}
  if (raw === undefined) return calls
  for (const member of IN_USAGE) {
    const told = raw[member]
    if (!isObject(told)) continue
    const own: ServerToolCalls = {}
    for (const [name, value] of Object.entries(told)) {
      const tool = isObject(value) ? name : COUNTED.exec(name)?.[1]
      const told = isObject(value) ? value.invocation : value
      if (tool !== undefined) add(own, serverToolName(tool), count(told) ?? 0)
    }
    // A relay may tell the same calls in its own member and in another's.
    calls = mostCalls(calls, own)
  }
  const searches = count(raw.num_search_queries)
  if (searches !== undefined && calls.web_search === undefined) add(calls, 'web_search', searches)
  // The advice of another model is a round of its own.
  for (const { type } of asObjects(raw.iterations)) if (type === 'advisor_message') add(calls, 'advisor', 1)
  return calls
}

/** Items of the responses wire that are calls of the client's own tools. */
const OWN_CALLS = new Set([
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'apply_patch_call',
  'computer_call',
  'tool_search_call',
])

/** What a search does beside searching, which alone its vendor bills. */
const LOOKS = new Set<unknown>(['open_page', 'find_in_page'])

/** The tool that an output item of the responses wire is a call of; undefined for one that ran nothing that the vendor bills. */
const toolOfItem = ({ type, status, environment, action }: JsonObject): string | undefined => {
  if (typeof type !== 'string' || !type.endsWith('_call') || OWN_CALLS.has(type) || status === 'failed')
    return undefined
  const name = serverToolName(type.slice(0, -'_call'.length))
  if (name === 'web_search' && isObject(action) && LOOKS.has(action.type)) return undefined
  // A shell's call names the container that it ran in.
  if (name === 'shell') return isObject(environment) && environment.type !== 'local' ? 'code_execution' : undefined
  return name
}

/** The same of a block of the messages wire. */
const toolOfBlock = ({ type, name }: JsonObject): string | undefined => {
  if (type === 'mcp_tool_use') return 'mcp'
  if (type !== 'server_tool_use' || typeof name !== 'string') return undefined
  const tool = serverToolName(name)
  return tool === 'tool_search' ? undefined : tool
}

/** A search that found nothing out for an error is not billed. */
const isFailedSearch = ({ type, content }: JsonObject): boolean =>
  type === 'web_search_tool_result' && isObject(content) && content.type === 'web_search_tool_result_error'

/** What an answer's items or blocks show, each given once. */
export const countCalls = (pieces: readonly JsonObject[], calls: ServerToolCalls): ServerToolCalls => {
  for (const piece of pieces) {
    const tool = toolOfItem(piece) ?? toolOfBlock(piece)
    if (tool !== undefined) add(calls, tool, 1)
    else if (isFailedSearch(piece) && calls.web_search !== undefined) take(calls, 'web_search')
  }
  return calls
}

/** Of a whole answer of any wire. */
export const callsInAnswer = ({ output, content }: JsonObject): ServerToolCalls =>
  countCalls(asObjects(content), countCalls(asObjects(output), {}))
