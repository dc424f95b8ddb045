// One content block of a provider's answer as events, from its start over its deltas to its end, however tidily it was
// written.

import type { ChatEvent } from '../../ir/event.ts'
import { isObject, type JsonObject, parseObject } from '../../ir/json.ts'
import type { Citation } from '../../ir/part.ts'
import { freeText } from '../undo.ts'
import { decodeCitation } from './decode-content.ts'
import { decodeThought } from './decode-parts.ts'

/** A block that has begun. Deltas of other blocks' kinds say nothing in it. */
export type Block = {
  /** The events of its start. */
  begun: ChatEvent[]
  append(delta: JsonObject): ChatEvent[]
  end(): ChatEvent[]
}

/** Citations are of the whole text, and come before it: they are told at its end. */
export const textBlock = (part: number, raw: JsonObject): Block => {
  const citations = Array.isArray(raw.citations) ? raw.citations.filter(isObject).map(decodeCitation) : []
  return {
    begun: [{ type: 'text-start', part }, ...said('text-delta', part, raw.text)],
    append: (delta) => {
      if (delta.type === 'text_delta') return said('text-delta', part, delta.text)
      if (delta.type === 'citations_delta' && isObject(delta.citation)) citations.push(decodeCitation(delta.citation))
      return []
    },
    end: () => [
      ...citations.map((citation: Citation): ChatEvent => ({ type: 'citation', part, citation })),
      { type: 'text-end', part },
    ],
  }
}

export const thoughtBlock = (part: number, raw: JsonObject): Block => {
  let signature = typeof raw.signature === 'string' ? raw.signature : ''
  return {
    begun: [{ type: 'reasoning-start', part }, ...said('reasoning-delta', part, raw.thinking)],
    append: (delta) => {
      if (delta.type === 'thinking_delta') return said('reasoning-delta', part, delta.thinking)
      if (delta.type === 'signature_delta' && typeof delta.signature === 'string') signature += delta.signature
      return []
    },
    end: () => [endOfThought(part, 'signature', signature)],
  }
}

/** It comes whole in its start. */
export const redactedBlock = (part: number, { data }: JsonObject): Block => ({
  begun: [{ type: 'reasoning-start', part }, endOfThought(part, 'data', typeof data === 'string' ? data : '')],
  append: () => [],
  end: () => [],
})

/** `start` is of a function's call, or of a text where the call is structured output. */
export const callBlock = (start: Extract<ChatEvent, { type: 'tool-start' | 'text-start' }>, raw: JsonObject): Block => {
  const { part } = start
  const kind = start.type === 'text-start' ? 'text' : 'tool'
  const tell = (text: string) => said(`${kind}-delta`, part, text)
  return {
    begun: [start],
    ...toldOnce(tell, argumentsIn(raw.input) || '{}', () => [{ type: `${kind}-end`, part }]),
  }
}

/** A tool of free text, which stands within its arguments. */
export const customBlock = (start: Extract<ChatEvent, { type: 'tool-start' }>, raw: JsonObject): Block => {
  const { part } = start
  const text = freeText()
  const tell = (piece: string) => said('tool-delta', part, text.push(piece))
  return {
    begun: [start],
    ...toldOnce(tell, argumentsIn(raw.input), () => {
      const { rest, cut } = text.end()
      const told = said('tool-delta', part, rest)
      // Half a call has no end.
      return cut ? told : [...told, { type: 'tool-end', part }]
    }),
  }
}

/** Arguments come in deltas, or else they are those of the block's start. */
const toldOnce = (
  tell: (text: string) => ChatEvent[],
  initial: string,
  end: () => ChatEvent[],
): Pick<Block, 'append' | 'end'> => {
  let told = false
  return {
    append: (delta) => {
      const text = delta.type === 'input_json_delta' ? argumentsIn(delta.partial_json) : ''
      if (text === '') return []
      told = true
      return tell(text)
    },
    end: () => [...(told ? [] : tell(initial)), ...end()],
  }
}

/** A block that only this wire has. It is a part at its end, when all of it is there. */
export const opaqueBlock = (nextPart: () => number, raw: JsonObject): Block => {
  const members = Object.entries(raw)
  const input: string[] = []
  return {
    begun: [],
    append: (delta) => {
      if (delta.type === 'input_json_delta') input.push(argumentsIn(delta.partial_json))
      else {
        // Members of a delta replace those of the same name.
        for (const member of Object.entries(delta)) if (member[0] !== 'type') members.push(member)
      }
      return []
    },
    end: () => {
      const whole = parseObject(input.join(''))
      if (whole !== undefined) members.push(['input', whole])
      const value: JsonObject = Object.fromEntries(members)
      return [{ type: 'opaque', part: nextPart(), value: { type: 'opaque', origin: 'messages', value } }]
    },
  }
}

const said = (type: 'text-delta' | 'reasoning-delta' | 'tool-delta', part: number, text: unknown): ChatEvent[] =>
  typeof text === 'string' && text !== '' ? [{ type, part, text }] : []

/** Arguments as text, however the provider sent them; an empty object may be filled by deltas yet. */
const argumentsIn = (input: unknown): string => {
  if (typeof input === 'string') return input
  if (input === undefined || input === null) return ''
  const text = JSON.stringify(input)
  return text === '{}' ? '' : text
}

const endOfThought = (part: number, slot: 'signature' | 'data', content: string): ChatEvent => {
  const { seal } = decodeThought('', slot, content)
  return seal === undefined ? { type: 'reasoning-end', part } : { type: 'reasoning-end', part, seal }
}
