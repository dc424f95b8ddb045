// A thought sealed by one wire's provider, carried by clients of another: one string that brings it back unchanged.

import { isObject, type Json } from '../ir/json.ts'
import type { ReasoningPart, Seal } from '../ir/part.ts'
import { CHAT_WIRES } from '../ir/wire.ts'

/** How every tag begins. */
export const SEAL_PREFIX = 'sluice.'

/** What of its answer stood before a thought: characters of text, and calls. */
export type Before = { text: number; calls: number }

/**
 * `sluice.<origin>.` + base64url of the thought as JSON `{text, full, value, before}`; '' for a thought without a seal.
 * `before` for clients of a wire that has no place for a thought behind words and calls.
 */
export const sealTag = (part: ReasoningPart, before?: Before): string => {
  if (part.seal === undefined) return ''
  const later = before !== undefined && before.text + before.calls > 0 ? { before } : {}
  const json = JSON.stringify({ text: part.text, full: part.full, value: part.seal.value, ...later })
  return `${SEAL_PREFIX}${part.seal.origin}.${Buffer.from(json, 'utf8').toString('base64url')}`
}

/**
 * Stands in the slot of a thought whose text is beside it, so that it is known when both come back: the seal's tag, or,
 * without a seal, that it was told in the open, or cut before it was sealed.
 */
export const slotTag = (part: ReasoningPart): string => {
  const name = openName(part)
  if (name !== undefined) return OPEN + (name === NAMES[0] ? '' : name)
  return part.seal === undefined ? (part.full === true ? OPEN : NONE) : sealTag(part)
}

const OPEN = `${SEAL_PREFIX}open.`
const NONE = `${SEAL_PREFIX}none.`

/** How servers of the chat-completions wire tell thoughts in the open: in a member of the message, or in its content. */
const NAMES = ['reasoning_content', 'reasoning', 'thinking'] as const
export type OpenName = (typeof NAMES)[number]

/** What seals a thought that was told in the open: it goes back to such a server alone, under the name it came by. */
export const openSeal = (name: OpenName): Seal => ({ origin: 'chat-completions', value: { open: name } })

/** Undefined for a thought that was not told in the open, or not to us. */
export const openName = ({ seal }: ReasoningPart): OpenName | undefined =>
  seal?.origin === 'chat-completions' ? NAMES.find((name) => name === seal.value.open) : undefined

/** The thought of a slot of ours; a tag that a client has cut or bent is worth the text beside it. */
export const taggedThought = (slot: string, beside: string): ReasoningPart | undefined => {
  if (!slot.startsWith(SEAL_PREFIX)) return undefined
  const name = slot === OPEN ? NAMES[0] : NAMES.find((one) => slot === OPEN + one)
  if (name !== undefined) return { type: 'reasoning', text: beside, full: true, seal: openSeal(name) }
  return openTag(slot) ?? { type: 'reasoning', text: beside }
}

/** The thought a tag carries; undefined for any other text, tags a client has cut or bent included. */
export const openTag = (text: string): ReasoningPart | undefined => openPlaced(text)?.part

/** The same, and what stood before it where that was anything. */
export const openPlaced = (text: string): { part: ReasoningPart; before?: Before } | undefined => {
  if (!text.startsWith(SEAL_PREFIX)) return undefined
  const dot = text.indexOf('.', SEAL_PREFIX.length)
  const origin = CHAT_WIRES.find((wire) => wire === text.slice(SEAL_PREFIX.length, dot))
  if (dot === -1 || origin === undefined) return undefined
  try {
    const thought: unknown = JSON.parse(Buffer.from(text.slice(dot + 1), 'base64url').toString('utf8'))
    if (!isObject(thought) || typeof thought.text !== 'string' || !isObject(thought.value)) return undefined
    const part: ReasoningPart = { type: 'reasoning', text: thought.text }
    if (typeof thought.full === 'boolean') part.full = thought.full
    part.seal = { origin, value: thought.value as { [name: string]: Json } }
    const { before } = thought
    return isObject(before) && typeof before.text === 'number' && typeof before.calls === 'number'
      ? { part, before: { text: before.text, calls: before.calls } }
      : { part }
  } catch {
    return undefined
  }
}
