// Tags: a thought sealed by one wire's provider as one string, which clients of another wire send back unchanged.

import { isObject, type Json, parseObject } from '../ir/json.ts'
import type { ReasoningPart, Seal } from '../ir/part.ts'
import { CHAT_WIRES } from '../ir/wire.ts'

/** The prefix of every tag. */
export const SEAL_PREFIX = 'sluice.'

/** A thought's position in its answer: the characters of text and the number of calls before it. */
export type Before = { text: number; calls: number }

/**
 * `sluice.<origin>.` + base64url of the thought as JSON `{text, full, value, before}`; '' for a thought without a seal.
 * `before` is for a wire on which thoughts are separate from text and calls, so that their order is lost.
 */
export const sealTag = (part: ReasoningPart, before?: Before): string => {
  if (part.seal === undefined) return ''
  const later = before !== undefined && before.text + before.calls > 0 ? { before } : {}
  const json = JSON.stringify({ text: part.text, full: part.full, value: part.seal.value, ...later })
  return `${SEAL_PREFIX}${part.seal.origin}.${Buffer.from(json, 'utf8').toString('base64url')}`
}

/**
 * The tag for a wire whose thoughts have a signature beside their text. A thought without a seal gets a tag, too: one for
 * a plain-text thought, another for a thought that was cut before it was sealed.
 */
export const slotTag = (part: ReasoningPart): string => {
  const name = thoughtMember(part)
  if (name !== undefined) return PLAIN + (name === MEMBERS[0] ? '' : name)
  return part.seal === undefined ? (part.full === true ? PLAIN : UNSEALED) : sealTag(part)
}

const PLAIN = `${SEAL_PREFIX}open.`
const UNSEALED = `${SEAL_PREFIX}none.`

/** Where servers of the chat-completions wire write plain-text thoughts: members of the message, of its content, or its text. */
const MEMBERS = ['reasoning_content', 'reasoning', 'thinking', 'content'] as const
export type ThoughtMember = (typeof MEMBERS)[number]

/** The seal of a plain-text thought: it is sent back to servers of its wire alone, in the member it came in. */
export const plainSeal = (name: ThoughtMember): Seal => ({ origin: 'chat-completions', value: { open: name } })

/** Undefined for a thought that is not plain text. */
export const thoughtMember = ({ seal }: ReasoningPart): ThoughtMember | undefined =>
  seal?.origin === 'chat-completions' ? MEMBERS.find((name) => name === seal.value.open) : undefined

/** The thought of a `slotTag`, or only the text beside it where a client has damaged the tag. Undefined for no tag. */
export const taggedThought = (slot: string, beside: string): ReasoningPart | undefined => {
  if (!slot.startsWith(SEAL_PREFIX)) return undefined
  const name = slot === PLAIN ? MEMBERS[0] : MEMBERS.find((one) => slot === PLAIN + one)
  if (name !== undefined) return { type: 'reasoning', text: beside, full: true, seal: plainSeal(name) }
  return readTag(slot) ?? { type: 'reasoning', text: beside }
}

/** The thought of a tag; undefined for any other text, and for a damaged tag. */
export const readTag = (text: string): ReasoningPart | undefined => readPlacedTag(text)?.part

/** The same with its position, unless it came first. */
export const readPlacedTag = (text: string): { part: ReasoningPart; before?: Before } | undefined => {
  if (!text.startsWith(SEAL_PREFIX)) return undefined
  const dot = text.indexOf('.', SEAL_PREFIX.length)
  const origin = CHAT_WIRES.find((wire) => wire === text.slice(SEAL_PREFIX.length, dot))
  if (dot === -1 || origin === undefined) return undefined
  const thought = parseObject(plain(text.slice(dot + 1)))
  if (typeof thought?.text !== 'string' || !isObject(thought.value)) return undefined
  const part: ReasoningPart = { type: 'reasoning', text: thought.text }
  if (typeof thought.full === 'boolean') part.full = thought.full
  part.seal = { origin, value: thought.value as { [name: string]: Json } }
  const { before } = thought
  return isObject(before) && isCount(before.text) && isCount(before.calls)
    ? { part, before: { text: before.text, calls: before.calls } }
    : { part }
}

/** The playground reads answers, too, and a browser has no Buffer. */
const plain = (base64url: string): string =>
  typeof Buffer === 'undefined'
    ? new TextDecoder().decode(
        Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0)),
      )
    : Buffer.from(base64url, 'base64url').toString('utf8')

/** Clients can forge a tag: at a count that is no whole number, a text could never be cut. */
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
