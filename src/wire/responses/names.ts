// The names and ids this wire takes: letters, digits, `_` and `-`, of bounded length. Others are rewritten, the same
// way every time, and a tool's rewriting is written down so that the answer can undo it.

import type { ChatRequest } from '../../ir/request.ts'
import { digest } from '../../lib/digest.ts'
import type { Undo } from '../codec.ts'

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
  // The list first: the names of what has been called depend on it, never the other way round.
  for (const { name, namespace, type: kind } of tools) {
    const own = sent(name, namespace)
    if (own !== name) undo[own] = { name, kind }
  }
  return { sent, undo }
}

/** An id of a call as this wire takes it: at most 64 characters, never empty. */
export const callId = (id: string): string => {
  if (id === '') return 'call_0'
  return id.length <= MAX_ID ? id : `${id.slice(0, 40)}_${digest(id)}`
}

/** A client's label (a user, a cache key) within the wire's 64 characters: longer ones become their hash. */
export const label = (text: string): string => (text.length <= MAX_ID ? text : `h_${digest(text)}`)

/** Leaves room for a prefix and a place within the 64 characters that the vendor takes of an item's id. */
const MAX_BARE = 50

/** An id within the wire's charset, without the prefix other ids are made with. */
export const bareId = (id: string): string => {
  const bare = id.startsWith('resp_') ? id.slice('resp_'.length) : id
  const plain = bare.replace(/[^a-zA-Z0-9_-]/g, '_')
  if (plain.length > MAX_BARE) return `${plain.slice(0, MAX_BARE - 16)}_${digest(id)}`
  return plain === '' ? '0' : plain
}
