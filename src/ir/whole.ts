// Half a call never passes for a whole one: what a client carries out must have been written to its end.

import { GatewayError } from '../errors.ts'
import type { ChatEvent, ChatResponse, FinishReason } from './event.ts'
import { isObject } from './json.ts'

/** Reasons by which an answer may end within a call: its client knows then that it is cut. */
const CUTS = new Set<FinishReason>(['length', 'context-length', 'content-filter', 'refusal', 'pause'])

const broken = () =>
  new GatewayError('upstream_error', 'The model gave a tool call that breaks off in the middle. Try again.')

/** Arguments are an object, or nothing at all. */
const isWhole = (input: string): boolean => {
  if (input.trim() === '') return true
  try {
    return isObject(JSON.parse(input))
  } catch {
    return false
  }
}

/** The answer itself. Throws `upstream_error` where it says to be over and one of its functions' calls is not. */
export const requireWhole = (response: ChatResponse): ChatResponse => {
  const half = response.parts.some(
    (part) => part.type === 'tool-call' && part.kind === 'function' && !isWhole(part.input),
  )
  if (half && !CUTS.has(response.finish)) throw broken()
  return response
}

/**
 * A transducer of a stream's events. The end of a call whose arguments are no object is held back until it is known how
 * the answer ends: cut, it passes; else an `error` takes the place of the `finish`. So does a call that never ended.
 */
export const wholeCalls = (): ((events: ChatEvent[]) => ChatEvent[]) => {
  const open = new Map<number, string[] | undefined>()
  const held: ChatEvent[] = []

  const check = (event: ChatEvent): ChatEvent[] => {
    switch (event.type) {
      case 'tool-start':
        open.set(event.part, event.kind === 'function' ? [] : undefined)
        break
      case 'tool-delta':
        open.get(event.part)?.push(event.text)
        break
      case 'tool-end': {
        const written = open.get(event.part)
        open.delete(event.part)
        if (written === undefined || isWhole(written.join(''))) break
        held.push(event)
        return []
      }
      case 'finish':
        if (held.length === 0 && open.size === 0) break
        if (CUTS.has(event.reason)) return [...held, event]
        return [
          { type: 'usage', usage: event.usage },
          { type: 'error', error: broken() },
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
