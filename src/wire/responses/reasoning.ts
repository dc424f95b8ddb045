// Thoughts as reasoning items, whose `encrypted_content` only the provider can read.

import { asObjects, asText, type Json, type JsonObject } from '../../ir/json.ts'
import type { ReasoningPart, Seal } from '../../ir/part.ts'
import { slotTag, taggedThought } from '../seal.ts'

/**
 * Decodes a provider's reasoning item. The text is the thought itself where the item has it, else the summary; `emitted`:
 * which of the two a stream has emitted already. All other members are the seal.
 */
export const decodeReasoning = (item: JsonObject, emitted?: 'full' | 'summary'): ReasoningPart => {
  const summary = texts(item.summary)
  const content = texts(item.content)
  const full = emitted === undefined ? content.length > 0 : emitted === 'full'
  const text = (full ? content : summary).join('\n\n')
  const value: { [name: string]: Json } = {}
  for (const [name, member] of Object.entries(item)) {
    if (member === undefined || member === null || name === 'type') continue
    if (name === 'summary' && sameAs(member, full || text === '' ? [] : [text])) continue
    if (name === 'content' && full && sameAs(member, [text])) continue
    value[name] = member
  }
  const sealed = value.id !== undefined || value.encrypted_content !== undefined
  return {
    type: 'reasoning',
    text,
    ...(full ? { full } : {}),
    ...(sealed ? { seal: { origin: 'responses', value } } : {}),
  }
}

/** Decodes a client's reasoning item; where its `encrypted_content` is a tag, to the foreign thought in that. */
export const openReasoning = (item: JsonObject): ReasoningPart => {
  const part = decodeReasoning(item)
  return taggedThought(asText(item.encrypted_content), part.text) ?? part
}

/** The id of the item that a seal of this wire is of. */
export const idIn = (seal: Seal | undefined): Json | undefined =>
  seal?.origin === 'responses' ? seal.value.id : undefined

/** The original item of a thought with a seal of this wire. */
export const sealedItem = (part: ReasoningPart): JsonObject => ({
  summary: part.full === true ? [] : summaryOf(part.text),
  ...(part.full === true ? { content: [{ type: 'reasoning_text', text: part.text }] } : {}),
  ...part.seal?.value,
  type: 'reasoning',
})

/**
 * Encodes a thought for a client, with the id that its stream has announced. A seal of another item becomes a tag, because
 * the provider binds encrypted content to the item's id. `encrypted_content` is never empty, as the item would then be a
 * reference to one that the provider stores.
 */
export const reasoningItem = (id: string, part: ReasoningPart): JsonObject => {
  if (idIn(part.seal) === id) return sealedItem(part)
  return { type: 'reasoning', id, summary: summaryOf(part.text), encrypted_content: slotTag(part) }
}

const summaryOf = (text: string): JsonObject[] => (text === '' ? [] : [{ type: 'summary_text', text }])

/** Some servers have a text in the place of parts. */
const texts = (value: Json | undefined): string[] =>
  asObjects(typeof value === 'string' ? [{ text: value }] : value).flatMap(({ text }) =>
    typeof text === 'string' ? [text] : [],
  )

const sameAs = (value: Json, expected: string[]): boolean => {
  const found = texts(value)
  return Array.isArray(value) && value.length === expected.length && found.every((text, at) => text === expected[at])
}
