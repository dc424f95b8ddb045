// Names and ids that this wire's provider accepts, derived from any others so that the same one always gives the same.

import { distinct } from '../../ir/distinct.ts'
import { asObjects, asText, type JsonObject } from '../../ir/json.ts'
import type { Tool } from '../../ir/request.ts'
import { digest } from '../../lib/digest.ts'
import type { SentTool, Undo } from '../codec.ts'
import { fullName, toolKey } from '../tools/full-name.ts'
import type { ReplacedNames } from './argument-names.ts'

const MAX_NAME = 128
export const MAX_ID = 128
const ALLOWED = /^[a-zA-Z0-9_-]+$/
const FORBIDDEN = /[^a-zA-Z0-9_-]/g

/** The digest keeps texts apart that would otherwise become the same. */
const clean = (text: string, max: number): string =>
  text.length <= max && ALLOWED.test(text) ? text : `${text.replace(FORBIDDEN, '_').slice(0, KEPT)}_${digest(text)}`

/** How many characters are kept before the digest. */
const KEPT = 52

/** A tool's name on this wire, its namespace in front. */
export const sentName = (name: string, namespace?: string): string => clean(fullName(name, namespace), MAX_NAME)

/** The name of an answer's call, as the client is to read it. */
export type NameRead = typeof sentName

/** A client reads its own tools' names as it wrote them, whatever their characters: it looks them up. */
export const namesRead = ({ tools }: JsonObject): NameRead => {
  const names = asObjects(tools).map(({ name }) => asText(name))
  const own = new Set(names.filter((name) => name !== '' && sentName(name) !== name))
  return (name, namespace) => (namespace === undefined && own.has(name) ? name : sentName(name, namespace))
}

/** A call's id on this wire. */
export const sentCallId = (id: string): string => (id === '' ? 'toolu_0' : clean(id, MAX_ID))

/** An answer's id on this wire. */
export const messageId = (id: string): string =>
  id.startsWith('msg_') ? id : `msg_${id === '' ? '0' : clean(id, MAX_ID)}`

/** The unique names that a request's tools are sent under, and what their answer must undo. */
export type Names = {
  /** The sent name of the tool at this index of the request's list; undefined for a second tool of the same name. */
  at(index: number): string | undefined
  /** The sent name of a tool that the conversation calls, whether or not it is in the list. */
  of(name: string, namespace: string | undefined): string
  /** A unique name for a tool that the gateway adds. */
  claim(name: string): string
  undo: NonNullable<Undo['tools']>
  /** Filled as the tools are encoded. */
  replacedArguments: ReplacedNames
}

export const toolNames = (tools: Tool[]): Names => {
  const byTool = new Map<string, string>()
  const undo: { [sentName: string]: SentTool } = {}
  const claim = distinct(MAX_NAME)
  for (const tool of tools) {
    if (tool.type !== 'opaque' || typeof tool.value.name !== 'string') continue
    const own = tool.value.name
    claim(own)
    undo[own] = { name: own, kind: 'function' }
  }
  const list = tools.map((tool) => {
    if (tool.type === 'opaque') return undefined
    const key = toolKey(tool.name, tool.namespace)
    if (byTool.has(key)) return undefined
    const sent = claim(sentName(tool.name, tool.namespace))
    byTool.set(key, sent)
    undo[sent] = {
      name: tool.name,
      kind: tool.type,
      ...(tool.namespace === undefined ? {} : { namespace: tool.namespace }),
    }
    return sent
  })
  return {
    at: (index) => list[index],
    // A provider that found a tool by search may call it in a namespace of the tool's own name.
    of: (name, namespace) =>
      byTool.get(toolKey(name, namespace)) ??
      (namespace === name ? byTool.get(toolKey(name, undefined)) : undefined) ??
      sentName(name, namespace),
    claim,
    undo,
    replacedArguments: new Map(),
  }
}
