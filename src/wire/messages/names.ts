// Names and ids as this wire's provider accepts them, made from any others by a rule that always gives the same result.

import { distinct } from '../../ir/distinct.ts'
import type { Tool } from '../../ir/request.ts'
import { digest } from '../../lib/digest.ts'
import type { SentTool, Undo } from '../codec.ts'

const MAX_NAME = 128
export const MAX_ID = 128
const ALLOWED = /^[a-zA-Z0-9_-]+$/
const FORBIDDEN = /[^a-zA-Z0-9_-]/g

/** The digest tells apart what cleaning makes alike. */
const clean = (text: string, max: number): string =>
  text.length <= max && ALLOWED.test(text) ? text : `${text.replace(FORBIDDEN, '_').slice(0, CLEAN)}_${digest(text)}`

/** How much is kept of a text that must be cleaned. */
const CLEAN = 52

/** A tool's name on this wire, its namespace in front. */
export const sentName = (name: string, namespace?: string): string =>
  clean(namespace === undefined ? name : `${namespace}__${name}`, MAX_NAME)

/** A call's id on this wire. */
export const sentCallId = (id: string): string => (id === '' ? 'toolu_0' : clean(id, MAX_ID))

/** An answer's id on this wire. */
export const messageId = (id: string): string =>
  id.startsWith('msg_') ? id : `msg_${id === '' ? '0' : clean(id, MAX_ID)}`

/** The names a request's tools are sent under: unique, and the way back for those that changed. */
export type Names = {
  /** The sent name of the tool at this place of the request's list; absent for a second tool of the same name. */
  at(index: number): string | undefined
  /** The sent name of a tool called in the conversation, whether or not it is in the list. */
  of(name: string, namespace: string | undefined): string
  /** Claims a name for a tool of our own. */
  claim(name: string): string
  undo: NonNullable<Undo['tools']>
}

export const toolNames = (tools: Tool[]): Names => {
  const byTool = new Map<string, string>()
  const undo: { [sentName: string]: SentTool } = {}
  const claim = distinct(MAX_NAME)
  for (const tool of tools) if (tool.type === 'opaque' && typeof tool.value.name === 'string') claim(tool.value.name)
  const list = tools.map((tool) => {
    if (tool.type === 'opaque') return undefined
    const key = keyOf(tool.name, tool.namespace)
    if (byTool.has(key)) return undefined
    const sent = claim(sentName(tool.name, tool.namespace))
    byTool.set(key, sent)
    if (sent !== tool.name || tool.type === 'custom' || tool.namespace !== undefined) {
      undo[sent] = {
        name: tool.name,
        kind: tool.type,
        ...(tool.namespace === undefined ? {} : { namespace: tool.namespace }),
      }
    }
    return sent
  })
  return {
    at: (index) => list[index],
    // A provider that found a plain tool by search calls it in a namespace of the same name.
    of: (name, namespace) =>
      byTool.get(keyOf(name, namespace)) ??
      (namespace === name ? byTool.get(keyOf(name, undefined)) : undefined) ??
      sentName(name, namespace),
    claim,
    undo,
  }
}

const keyOf = (name: string, namespace: string | undefined): string => JSON.stringify([namespace ?? null, name])
