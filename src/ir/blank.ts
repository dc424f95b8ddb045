// White space between the parts of an answer, which some servers stream as a text of its own: it is none.

import type { ChatEvent } from './event.ts'

/** Other white space is a character that the model has written. */
export const isBlank = (text: string): boolean => !/[^ \t\r\n]/.test(text)

/**
 * A transducer that leaves out texts of white space alone, but for one between two texts and one that is the whole answer.
 * A text begins when its first other character comes.
 */
export const withoutBlanks = (): ((events: ChatEvent[]) => ChatEvent[]) => {
  /** The events of texts that have been blank so far. */
  const held = new Map<number, ChatEvent[]>()
  /** Those of texts that ended so, since the last other part. */
  let between: ChatEvent[] = []
  let last: 'text' | 'other' | undefined

  const begin = (kind: 'text' | 'other'): ChatEvent[] => {
    const kept = kind === 'text' && last === 'text' ? between : []
    between = []
    last = kind
    return kept
  }

  const see = (event: ChatEvent): ChatEvent[] => {
    if (event.type === 'finish')
      return [...(last === undefined ? [...between, ...[...held.values()].flat()] : []), event]
    if (!('part' in event)) return [event]
    if (event.type === 'text-start') {
      held.set(event.part, [event])
      return []
    }
    const before = held.get(event.part)
    if (before === undefined) {
      return event.type.endsWith('-start') || event.type === 'opaque' ? [...begin('other'), event] : [event]
    }
    before.push(event)
    if (event.type === 'text-delta' && isBlank(event.text)) return []
    held.delete(event.part)
    if (event.type !== 'text-end') return [...begin('text'), ...before]
    between.push(...before)
    return []
  }
  // Deltas of what has begun pass as they are.
  return (events) => (held.size > 0 || events.some(concerns) ? events.flatMap(see) : events)
}

const concerns = ({ type }: ChatEvent): boolean => !type.endsWith('-delta')
