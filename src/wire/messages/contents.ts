// What blocks of an answer hold, however tidily a provider wrote it.

import type { ChatEvent } from '../../ir/event.ts'
import { isObject, type JsonObject } from '../../ir/json.ts'
import type { Citation, Seal } from '../../ir/part.ts'
import { decodeCitation, decodeThought } from './decode-parts.ts'

/** A text block's words where they come with its start. */
export const textIn = ({ text }: JsonObject, part: number): ChatEvent[] =>
  typeof text === 'string' && text !== '' ? [{ type: 'text-delta', part, text }] : []

/** What a text block says it is of. */
export const citationsIn = ({ citations }: JsonObject): Citation[] =>
  Array.isArray(citations) ? citations.filter(isObject).map(decodeCitation) : []

/** Arguments as text, however the provider sent them; an empty object may be filled by deltas yet. */
export const argumentsIn = (input: unknown): string => {
  if (typeof input === 'string') return input
  if (input === undefined || input === null) return ''
  const text = JSON.stringify(input)
  return text === '{}' ? '' : text
}

export const endOfThought = (part: number, slot: 'signature' | 'data', content: string): ChatEvent => {
  const seal: Seal | undefined = decodeThought('', slot, content).seal
  return seal === undefined ? { type: 'reasoning-end', part } : { type: 'reasoning-end', part, seal }
}

/** The text as a JSON object; undefined for anything else. */
export const parsed = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
