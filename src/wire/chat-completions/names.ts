// The names under which tools and calls are sent on this wire.

import type { ChatRequest } from '../../ir/request.ts'
import { digest } from '../../lib/digest.ts'
import type { SentTool, Undo } from '../codec.ts'
import { fullName, toolKey } from '../tools/full-name.ts'

export type ToolNames = {
  /** The name that a tool or a call is sent under. */
  of(name: string, namespace?: string): string
  /** What the answer must undo; empty where no tool was sent. */
  undo: Undo
}

const MAX_NAME = 64
const LEGAL_NAME = /^[a-zA-Z0-9_-]+$/

/** Unique names by this wire's rules: `namespace__name`, with other characters replaced and too long ones cut. */
export const toolNames = (request: ChatRequest): ToolNames => {
  const sent: { [name: string]: SentTool } = {}
  const known = new Map<string, string>()
  const taken = new Set<string>()
  const claim = (name: string, namespace?: string): string => {
    const key = toolKey(name, namespace)
    const already = known.get(key)
    if (already !== undefined) return already
    const full = fullName(name, namespace)
    const legal = full.length <= MAX_NAME && LEGAL_NAME.test(full) && !taken.has(full)
    const out = legal ? full : `${full.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_NAME - 12)}_${digest(key)}`
    known.set(key, out)
    taken.add(out)
    return out
  }
  // Tools that keep their name claim it first: a changed name must not take it from them.
  for (const tool of request.tools) if (tool.type !== 'opaque' && tool.namespace === undefined) claim(tool.name)
  for (const tool of request.tools) {
    if (tool.type === 'opaque') continue
    const { name, namespace, type: kind } = tool
    sent[claim(name, namespace)] = namespace === undefined ? { name, kind } : { name, namespace, kind }
  }
  const listed = new Map(known)
  // A provider that found a tool by search may call it in a namespace of the tool's own name.
  const of = (name: string, namespace?: string): string =>
    listed.get(toolKey(name, namespace)) ??
    (namespace === name ? listed.get(toolKey(name)) : undefined) ??
    claim(name, namespace)
  return { of, undo: Object.keys(sent).length === 0 ? {} : { tools: sent } }
}
