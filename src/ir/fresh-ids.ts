// Ids of an answer's calls that no call before it has. Models that number their calls by turn, and servers that do, repeat
// them, and agents that know calls by their ids lose all but one: findings/claude-code-repeated-ids.sh.

import type { ChatEvent, ChatResponse } from './event.ts'
import type { Turn } from './request.ts'

/** The ids of the conversation's calls; undefined for one without any. */
export const callIdsIn = (turns: readonly Turn[]): ReadonlySet<string> | undefined => {
  let ids: Set<string> | undefined
  for (const { role, parts } of turns) {
    if (role !== 'assistant') continue
    for (const part of parts) if (part.type === 'tool-call') ids = (ids ?? new Set()).add(part.id)
  }
  return ids
}

/** An id becomes one that is not taken. `written`: as the client's wire has an id. */
type Fresh = (id: string) => string

export const freshIds = (taken: Iterable<string>, written: (id: string) => string): Fresh => {
  const used = new Set(taken)
  return (id) => {
    // One without gets its own where it is written.
    if (id === '') return id
    let own = id
    for (let copy = 2; used.has(written(own)); copy++) own = `${id}_${copy}`
    used.add(written(own))
    return own
  }
}

export const eventsWithFresh = (events: ChatEvent[], fresh: Fresh): ChatEvent[] =>
  events.some(({ type }) => type === 'tool-start')
    ? events.map((event) => (event.type === 'tool-start' ? { ...event, id: fresh(event.id) } : event))
    : events

export const answerWithFresh = (answer: ChatResponse, fresh: Fresh): ChatResponse => ({
  ...answer,
  parts: answer.parts.map((part) => (part.type === 'tool-call' ? { ...part, id: fresh(part.id) } : part)),
})
