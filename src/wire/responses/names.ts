// Names and ids as this wire accepts them: letters, digits, `_` and `-`, of bounded length. Others are replaced
// deterministically; tools' names are recorded, so that decoding the answer can restore them.

import type { Json, JsonObject } from '../../ir/json.ts'
import type { ChatRequest } from '../../ir/request.ts'
import { digest } from '../../lib/digest.ts'
import type { Undo } from '../codec.ts'
import { given } from '../read.ts'
import { sentAs } from '../tools/heard.ts'

const NAME = /^[a-zA-Z0-9_-]{1,128}$/
const MAX_ID = 64

export type ToolNames = {
  /** The name a tool is sent under. Names within a namespace are this wire's own and stay. */
  sent(name: string, namespace: string | undefined): string
  undo: NonNullable<Undo['tools']>
}

export const toolNames = (request: ChatRequest): ToolNames => {
  const undo: NonNullable<Undo['tools']> = {}
  const sentNames = new Map<string, string>()
  const taken = new Set<string>()
  const sent = (name: string, namespace: string | undefined): string => {
    if (namespace !== undefined || NAME.test(name)) return name
    const known = sentNames.get(name)
    if (known !== undefined) return known
    const plain = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 100) || 'tool'
    const own = taken.has(plain) ? `${plain}_${digest(name)}` : plain
    taken.add(own)
    sentNames.set(name, own)
    return own
  }
  const tools = request.tools.filter((tool) => tool.type !== 'opaque')
  for (const { name } of tools) if (NAME.test(name)) taken.add(name)
  // Names of listed tools are assigned first, so that they never depend on the calls in the conversation.
  for (const { name, namespace, type: kind } of tools) {
    undo[sentAs(sent(name, namespace), namespace)] =
      namespace === undefined ? { name, kind } : { name, namespace, kind }
  }
  return { sent, undo }
}

/** An id of a call as this wire takes it: at most 64 characters, never empty. */
export const callId = (id: string): string => {
  if (id === '') return 'call_0'
  return id.length <= MAX_ID ? id : `${id.slice(0, 40)}_${digest(id)}`
}

/**
 * Items that mean the same without an id, and how it must begin if there is one. Any other, as other servers and some
 * clients make, fails the whole request, and with it every later one of the conversation.
 */
const BEGINNINGS = new Map<Json | undefined, string>([
  ['message', 'msg_'],
  ['reasoning', 'rs_'],
  ['function_call', 'fc_'],
  ['function_call_output', 'fc'],
  ['custom_tool_call', 'ctc_'],
  ['custom_tool_call_output', 'ctc'],
  ['tool_search_call', ''],
  ['tool_search_output', ''],
  ['web_search_call', 'ws_'],
])

const TAKEN_ID = /^[a-zA-Z0-9_-]{1,64}$/

export const isMessage = ({ type, role }: JsonObject): boolean => type === 'message' || (!given(type) && given(role))

/** Whether an item has an id that is refused and that it does not need. */
export const hasRefusedId = (item: JsonObject): boolean => {
  const { type, id } = item
  const beginning = BEGINNINGS.get(isMessage(item) ? 'message' : type)
  return beginning !== undefined && typeof id === 'string' && !(id.startsWith(beginning) && TAKEN_ID.test(id))
}

/** An item as it is sent: without an id that the wire does not take. */
export const withTakenId = (item: JsonObject): JsonObject => {
  if (!hasRefusedId(item)) return item
  const { id: _, ...rest } = item
  return rest
}

/** A client's label (a user, a cache key) within the wire's 64 characters: a longer one is hashed. */
export const label = (text: string): string => (text.length <= MAX_ID ? text : `h_${digest(text)}`)

/** Leaves room for a prefix and an index within the vendor's limit of 64 characters for an item's id. */
const MAX_BARE = 50

/**
 * An answer's id without its prefix and of letters, digits and `_`, for making other ids from it. vendor_b has refused ids
 * with `-`, though it names it among what they may contain.
 */
export const bareId = (id: string): string => {
  const bare = id.startsWith('resp_') ? id.slice('resp_'.length) : id
  const plain = bare.replace(/[^a-zA-Z0-9_]/g, '_')
  if (plain.length > MAX_BARE) return `${plain.slice(0, MAX_BARE - 16)}_${digest(id)}`
  return plain === '' ? '0' : plain
}
