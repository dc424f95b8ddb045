// A thought sealed by one wire's provider, carried by clients of another: one string that brings it back unchanged.

import { isObject, type Json } from '../ir/json.ts'
import type { ReasoningPart, Seal } from '../ir/part.ts'
import { CHAT_WIRES } from '../ir/wire.ts'

/** How every tag begins. */
export const SEAL_PREFIX = 'sluice.'

/** `sluice.<origin>.` + base64url of the thought as JSON `{text, full, value}`; '' for a thought without a seal. */
export const sealTag = (part: ReasoningPart): string => {
  if (part.seal === undefined) return ''
  const json = JSON.stringify({ text: part.text, full: part.full, value: part.seal.value })
  return `${SEAL_PREFIX}${part.seal.origin}.${Buffer.from(json, 'utf8').toString('base64url')}`
}

/**
 * Stands in the slot of a thought without a seal, so that it is known when it comes back with its text beside it: told
 * in the open, or cut before it was sealed.
 */
export const plainTag = ({ full }: ReasoningPart): string => (full === true ? OPEN : NONE)

const OPEN = `${SEAL_PREFIX}open.`
const NONE = `${SEAL_PREFIX}none.`

/** What seals a thought that a server of the chat-completions wire told in the open: it goes back to such a one alone. */
const IN_THE_OPEN: Seal = { origin: 'chat-completions', value: { open: true } }

export const isOpenThought = ({ seal }: ReasoningPart): boolean =>
  seal?.origin === 'chat-completions' && seal.value.open === true

/** The thought of a slot of ours; a tag that a client has cut or bent is worth the text beside it. */
export const taggedThought = (slot: string, beside: string): ReasoningPart | undefined => {
  if (!slot.startsWith(SEAL_PREFIX)) return undefined
  if (slot === OPEN) return { type: 'reasoning', text: beside, full: true, seal: IN_THE_OPEN }
  return openTag(slot) ?? { type: 'reasoning', text: beside }
}

/** The thought a tag carries; undefined for any other text, tags a client has cut or bent included. */
export const openTag = (text: string): ReasoningPart | undefined => {
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
    return part
  } catch {
    return undefined
  }
}
