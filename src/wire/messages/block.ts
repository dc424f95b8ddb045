// One content block of a provider's answer as events: its start, its deltas and its end. Providers may send the content in
// the start, in deltas or in both.

import type { ChatEvent } from '../../ir/event.ts'
import { asObjects, asText, isObject, type JsonObject, parseObject } from '../../ir/json.ts'
import type { Citation } from '../../ir/part.ts'
import type { SentArguments } from '../codec.ts'
import { freeText } from '../tools/undo.ts'
import { restoredNames } from './argument-names.ts'
import { decodeCitation } from './decode-content.ts'
import { decodeThought } from './decode-parts.ts'

/** An open block. `append` ignores deltas that belong to other kinds of blocks. */
export type Block = {
  /** Its type where it is prose, which is over where another block begins. */
  prose?: 'text' | 'thinking'
  /** The events of its start. */
  started: ChatEvent[]
  append(delta: JsonObject): ChatEvent[]
  end(): ChatEvent[]
}

/** Citations apply to the whole text but arrive before it: they are passed on at its end. */
export const textBlock = (part: number, raw: JsonObject): Block => {
  const citations = asObjects(raw.citations).map(decodeCitation)
  return {
    prose: 'text',
    started: [{ type: 'text-start', part }, ...delta('text-delta', part, raw.text)],
    append: (raw) => {
      if (raw.type === 'text_delta') return delta('text-delta', part, raw.text)
      if (raw.type === 'citations_delta' && isObject(raw.citation)) citations.push(decodeCitation(raw.citation))
      return []
    },
    end: () => [
      ...citations.map((citation: Citation): ChatEvent => ({ type: 'citation', part, citation })),
      { type: 'text-end', part },
    ],
  }
}

export const thoughtBlock = (part: number, raw: JsonObject): Block => {
  let signature = asText(raw.signature)
  return {
    prose: 'thinking',
    started: [{ type: 'reasoning-start', part }, ...delta('reasoning-delta', part, raw.thinking ?? raw.text)],
    append: (raw) => {
      if (raw.type === 'thinking_delta') return delta('reasoning-delta', part, raw.thinking)
      // Some servers tell all of it again.
      if (raw.type === 'signature_delta' && typeof raw.signature === 'string')
        signature = raw.signature.startsWith(signature) ? raw.signature : signature + raw.signature
      return []
    },
    end: () => [endOfThought(part, 'signature', signature)],
  }
}

/** Its start holds all of it. */
export const redactedBlock = (part: number, { data }: JsonObject): Block => ({
  started: [{ type: 'reasoning-start', part }, endOfThought(part, 'data', asText(data))],
  append: () => [],
  end: () => [],
})

/**
 * `start` is of a function's call, or of a text where the call is structured output. `sentArguments`: arguments that were
 * sent under other names.
 */
export const callBlock = (
  start: Extract<ChatEvent, { type: 'tool-start' | 'text-start' }>,
  raw: JsonObject,
  sentArguments?: SentArguments,
): Block => {
  const { part } = start
  const kind = start.type === 'text-start' ? 'text' : 'tool'
  const emit = (text: string) => delta(`${kind}-delta`, part, text)
  const end: ChatEvent = { type: `${kind}-end`, part }
  const initial = argumentsIn(raw.input) || '{}'
  if (sentArguments === undefined) return { started: [start], ...argumentDeltas(emit, initial, () => [end]) }
  const names = restoredNames(sentArguments)
  const restore = (text: string): ChatEvent[] => emit(names.push(text))
  return { started: [start], ...argumentDeltas(restore, initial, () => [...emit(names.end()), end]) }
}

/** The call of a tool of free text, which is the one argument. */
export const customBlock = (start: Extract<ChatEvent, { type: 'tool-start' }>, raw: JsonObject): Block => {
  const { part } = start
  const text = freeText()
  const emit = (piece: string) => delta('tool-delta', part, text.push(piece))
  return {
    started: [start],
    ...argumentDeltas(emit, argumentsIn(raw.input), () => {
      const { rest, cut } = text.end()
      const last = delta('tool-delta', part, rest)
      // A call that was cut off gets no end.
      return cut ? last : [...last, { type: 'tool-end', part }]
    }),
  }
}

/** Emits the arguments of the deltas or, where none comes, those of the block's start. */
const argumentDeltas = (
  emit: (text: string) => ChatEvent[],
  initial: string,
  end: () => ChatEvent[],
): Pick<Block, 'append' | 'end'> => {
  let hasDeltas = false
  return {
    append: (raw) => {
      const text = raw.type === 'input_json_delta' ? argumentsIn(raw.partial_json) : ''
      if (text === '') return []
      hasDeltas = true
      return emit(text)
    },
    end: () => [...(hasDeltas ? [] : emit(initial)), ...end()],
  }
}

/** A block that only this wire has. It becomes a part at its end, when it is complete. */
export const opaqueBlock = (nextPart: () => number, raw: JsonObject): Block => {
  const members = Object.entries(raw)
  const input: string[] = []
  return {
    started: [],
    append: (delta) => {
      if (delta.type === 'input_json_delta') input.push(argumentsIn(delta.partial_json))
      else {
        // A delta's members replace those of the same name.
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

/** None for an empty text. */
const delta = (type: 'text-delta' | 'reasoning-delta' | 'tool-delta', part: number, text: unknown): ChatEvent[] =>
  typeof text === 'string' && text !== '' ? [{ type, part, text }] : []

/** Arguments as text, whatever type the provider sent; '' for an empty object, which deltas may still fill. */
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
