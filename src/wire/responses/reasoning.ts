// Thoughts on this wire: a reasoning item, whose `encrypted_content` is the slot for what only a provider can read.

import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { ReasoningPart } from '../../ir/part.ts'
import { stringOr } from '../read.ts'
import { slotTag, taggedThought } from '../seal.ts'

/**
 * A provider's reasoning item. Its members are the seal, but for the one that the text says already: the thought itself
 * where it has one, or what `told` says that a stream has passed on.
 */
export const decodeReasoning = (item: JsonObject, told?: 'full' | 'summary'): ReasoningPart => {
  const summary = texts(item.summary)
  const content = texts(item.content)
  const full = told === undefined ? content.length > 0 : told === 'full'
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

/** A client's reasoning item: the thought of another wire's provider, where it carries one, comes back unchanged. */
export const openReasoning = (item: JsonObject): ReasoningPart => {
  const told = decodeReasoning(item)
  return taggedThought(stringOr(item.encrypted_content, ''), told.text) ?? told
}

/** The item a seal of this wire was made from, verbatim. */
export const sealedItem = (part: ReasoningPart): JsonObject => ({
  summary: part.full === true ? [] : summaryOf(part.text),
  ...(part.full === true ? { content: [{ type: 'reasoning_text', text: part.text }] } : {}),
  ...part.seal?.value,
  type: 'reasoning',
})

/**
 * A thought as an item for a client, under the id its stream has announced. A seal that is not of this very item
 * travels as a tag: the provider binds what it has encrypted to the item's id. Without anything in its slot an item
 * would be a reference to one the provider keeps.
 */
export const reasoningItem = (id: string, part: ReasoningPart): JsonObject => {
  if (part.seal?.origin === 'responses' && part.seal.value.id === id) return sealedItem(part)
  return { type: 'reasoning', id, summary: summaryOf(part.text), encrypted_content: slotTag(part) }
}

const summaryOf = (text: string): JsonObject[] => (text === '' ? [] : [{ type: 'summary_text', text }])

const texts = (value: Json | undefined): string[] =>
  Array.isArray(value)
    ? value.flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []))
    : []

const sameAs = (value: Json, expected: string[]): boolean => {
  const found = texts(value)
  return Array.isArray(value) && value.length === expected.length && found.every((text, at) => text === expected[at])
}
