// Half a call never passes for a whole one: what a client carries out has a name, an id of its own, and was written to
// its end.

import { GatewayError } from '../errors.ts'
import { distinct } from './distinct.ts'
import type { ChatEvent, ChatResponse, FinishReason } from './event.ts'
import { isObject } from './json.ts'

/** Reasons by which an answer may end within a call: its client knows then that it is cut. */
const CUTS = new Set<FinishReason>(['length', 'context-length', 'content-filter', 'refusal'])

const broken = () =>
  new GatewayError('upstream_error', 'The model gave a tool call that breaks off in the middle. Try again.')
const nameless = () => new GatewayError('upstream_error', 'The model gave a tool call without a name. Try again.')

/** Whether a function's arguments are an object, or nothing at all. */
export const isWhole = (input: string): boolean => {
  if (input.trim() === '') return true
  try {
    return isObject(JSON.parse(input))
  } catch {
    return false
  }
}

/**
 * The answer, the ids of its calls made distinct: by them alone a client tells the results of its calls apart. Throws
 * `upstream_error` where it says to be over and one of its functions' calls is not, and for a call without a name.
 */
export const requireWhole = (response: ChatResponse): ChatResponse => {
  const idOf = distinct()
  const parts = response.parts.map((part) => {
    if (part.type !== 'tool-call') return part
    if (part.name === '') throw nameless()
    if (part.kind === 'function' && !isWhole(part.input) && !CUTS.has(response.finish)) throw broken()
    return { ...part, id: idOf(part.id) }
  })
  return { ...response, parts }
}

/**
 * A transducer of a stream's events. The end of a call whose arguments are no object is held back until it is known how
 * the answer ends: cut, it passes; else an `error` takes the place of the `finish`. So does a call that never ended, and
 * one without a name, which is not told. The ids of calls are made distinct.
 */
export const wholeCalls = (): ((events: ChatEvent[]) => ChatEvent[]) => {
  const open = new Map<number, string[] | undefined>()
  const held: ChatEvent[] = []
  const idOf = distinct()
  const unnamed = new Set<number>()

  const check = (event: ChatEvent): ChatEvent[] => {
    switch (event.type) {
      case 'tool-start':
        if (event.name === '') {
          unnamed.add(event.part)
          return []
        }
        open.set(event.part, event.kind === 'function' ? [] : undefined)
        return [{ ...event, id: idOf(event.id) }]
      case 'tool-delta':
        if (unnamed.has(event.part)) return []
        open.get(event.part)?.push(event.text)
        break
      case 'tool-end': {
        if (unnamed.has(event.part)) return []
        const written = open.get(event.part)
        open.delete(event.part)
        if (written === undefined || isWhole(written.join(''))) break
        held.push(event)
        return []
      }
      case 'finish':
        if (unnamed.size === 0) {
          if (held.length === 0 && open.size === 0) break
          if (CUTS.has(event.reason)) return [...held, event]
        }
        return [
          { type: 'usage', usage: event.usage },
          { type: 'error', error: unnamed.size > 0 ? nameless() : broken() },
        ]
      default:
        break
    }
    return [event]
  }
  // Most events are of text: nothing is made for them.
  return (events) => (events.some(concerns) ? events.flatMap(check) : events)
}

const concerns = ({ type }: ChatEvent): boolean => type.startsWith('tool-') || type === 'finish'
