// Applies stop sequences in the gateway, where the provider's wire has none: the client gets nothing after the first.

import type { ChatEvent } from './event.ts'
import type { Logprob } from './part.ts'

/**
 * A transducer of a stream's events. A text ends where the first of `stops` begins. Parts that start later are left out,
 * parts already open go on, and the `finish` names the stop sequence. Usage stays the provider's, which has written and
 * billed the whole answer. The last characters of a text are held back while a stop sequence may begin with them.
 */
export const stopAt = (stops: readonly string[]): ((events: ChatEvent[]) => ChatEvent[]) => {
  const held = new Map<number, Held>()
  const open = new Set<number>()
  /** Parts that have ended by themselves. */
  const whole = new Set<number>()
  let met: string | undefined

  const textDelta = (part: number, text: string, logprobs: Logprob[]): ChatEvent[] =>
    text === '' && logprobs.length === 0
      ? []
      : [{ type: 'text-delta', part, text, ...(logprobs.length === 0 ? {} : { logprobs }) }]

  const read = (event: Extract<ChatEvent, { type: 'text-delta' }>): ChatEvent[] => {
    const { part } = event
    const waited = held.get(part)
    held.delete(part)
    const { ahead, ...before } = waited ?? NOTHING
    const text = before.text + event.text
    const logprobs = [...before.logprobs, ...(event.logprobs ?? [])]
    const found = firstIn(text, stops)
    if (found !== undefined) {
      met = found.stop
      open.delete(part)
      return [...textDelta(part, text.slice(0, found.at), upTo(ahead + found.at, logprobs)), { type: 'text-end', part }]
    }
    const waits = beginning(text, stops)
    if (waits === 0) return waited === undefined ? [event] : textDelta(part, text, logprobs)
    const sure = text.length - waits
    const whole = upTo(ahead + sure, logprobs)
    const rest = logprobs.slice(whole.length)
    held.set(part, {
      text: text.slice(sure),
      logprobs: rest,
      ahead: rest.length === 0 ? 0 : ahead + sure - sizeOf(whole),
    })
    return textDelta(part, text.slice(0, sure), whole)
  }

  const release = (part: number): ChatEvent[] => {
    const { text, logprobs } = held.get(part) ?? NOTHING
    held.delete(part)
    return textDelta(part, text, logprobs)
  }

  const see = (event: ChatEvent): ChatEvent[] => {
    if (!('part' in event)) {
      if (event.type !== 'finish') return [event]
      const rest = [...held.keys()].flatMap(release)
      return [...rest, met === undefined ? event : { ...event, reason: 'stop-sequence', stopSequence: met }]
    }
    if (event.type.endsWith('-start')) {
      if (met !== undefined) return []
      open.add(event.part)
      return [event]
    }
    if (event.type === 'opaque') return met === undefined ? [event] : []
    if (!open.has(event.part)) return event.type === 'citation' && whole.has(event.part) ? [event] : []
    if (event.type === 'text-delta') return met === undefined ? read(event) : [event]
    if (!event.type.endsWith('-end')) return [event]
    open.delete(event.part)
    whole.add(event.part)
    return [...release(event.part), event]
  }

  return stops.length === 0 ? (events) => events : (events) => events.flatMap(see)
}

/**
 * The text held back, and its tokens. `ahead`: how many characters of those tokens have been sent already, as the first
 * token may begin before the text.
 */
type Held = { text: string; logprobs: Logprob[]; ahead: number }

const NOTHING: Held = { text: '', logprobs: [], ahead: 0 }

const sizeOf = (logprobs: Logprob[]): number => logprobs.reduce((size, { token }) => size + token.length, 0)

/** The tokens that end at or before a position in the text. */
const upTo = (at: number, logprobs: Logprob[]): Logprob[] => {
  let end = 0
  return logprobs.filter(({ token }) => {
    end += token.length
    return end <= at
  })
}

/** The stop sequence that is complete first: a model that knew them would have stopped there. */
const firstIn = (text: string, stops: readonly string[]): { stop: string; at: number } | undefined => {
  let first: { stop: string; at: number } | undefined
  for (const stop of stops) {
    const at = text.indexOf(stop)
    if (at === -1) continue
    const sooner = first === undefined ? -1 : at + stop.length - (first.at + first.stop.length)
    if (first === undefined || sooner < 0 || (sooner === 0 && at < first.at)) first = { stop, at }
  }
  return first
}

/** How many characters at the end of the text may be the beginning of a stop sequence. */
const beginning = (text: string, stops: readonly string[]): number => {
  let most = 0
  for (const stop of stops) {
    const from = Math.max(0, text.length - stop.length + 1)
    for (let at = text.indexOf(stop.charAt(0), from); at !== -1; at = text.indexOf(stop.charAt(0), at + 1)) {
      if (!stop.startsWith(text.slice(at))) continue
      most = Math.max(most, text.length - at)
      break
    }
  }
  return most
}
