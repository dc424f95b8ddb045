// Ensures that tool calls are complete before a client runs them: each has a name, an id of its own, and arguments that
// do not break off.

import { GatewayError } from '../errors.ts'
import { distinct } from './distinct.ts'
import type { ChatEvent, ChatResponse, FinishReason } from './event.ts'
import { parseJson, parseObject } from './json.ts'

/** Finish reasons that tell the client the answer was cut, so that it may end within a call. */
const CUTS = new Set<FinishReason>(['length', 'context-length', 'content-filter', 'refusal'])

const broken = () =>
  new GatewayError(
    'upstream_error',
    'Server error: the model gave a tool call that breaks off in the middle. Try again.',
  )
const nameless = () =>
  new GatewayError('upstream_error', 'Server error: the model gave a tool call without a name. Try again.')

/** Whether a function's arguments are an object, or nothing at all. */
export const isWhole = (input: string): boolean => input.trim() === '' || parseObject(input) !== undefined

/**
 * The text of the object in arguments that are themselves the JSON of a text, as some models and their servers write
 * them; undefined for any others.
 */
const unwrapped = (input: string): string | undefined => {
  let text = input
  for (let depth = 0; depth < MAX_WRAPS && isWrapped(text); depth++) {
    const inner = parseJson(text)
    if (typeof inner !== 'string') return undefined
    text = inner
  }
  if (text === input || !isWhole(text)) return undefined
  return text.trim() === '' ? '{}' : text
}

const MAX_WRAPS = 3
const isWrapped = (input: string): boolean => /^\s*"/.test(input)

/**
 * The answer with unique call ids, as clients match results to calls by id alone. Throws `upstream_error` for a call
 * without a name, and for a function call whose arguments break off unless the finish reason says the answer was cut.
 */
export const requireWhole = (response: ChatResponse): ChatResponse => {
  const idOf = distinct()
  const parts = response.parts.map((part) => {
    if (part.type !== 'tool-call') return part
    if (part.name === '') throw nameless()
    if (part.kind === 'custom') return { ...part, id: idOf(part.id) }
    const input = unwrapped(part.input) ?? part.input
    if (!isWhole(input) && !CUTS.has(response.finish)) throw broken()
    return { ...part, id: idOf(part.id), input: input.trim() === '' ? '{}' : input }
  })
  return { ...response, parts }
}

/**
 * The same for a stream's events, as a transducer. The `tool-end` of a call whose arguments are not an object waits for
 * the `finish`: if that says the answer was cut it passes, else an `error` replaces the `finish`. An `error` also follows
 * a call that never ended, and one without a name, whose events are left out. Arguments that are the JSON of a text are
 * held until they end.
 */
export const wholeCalls = (): ((events: ChatEvent[]) => ChatEvent[]) => {
  const open = new Map<number, string[] | undefined>()
  const held: ChatEvent[] = []
  const idOf = distinct()
  const unnamed = new Set<number>()
  const wrapped = new Set<number>()

  const check = (event: ChatEvent): ChatEvent[] => {
    switch (event.type) {
      case 'tool-start':
        if (event.name === '') {
          unnamed.add(event.part)
          return []
        }
        open.set(event.part, event.kind === 'function' ? [] : undefined)
        return [{ ...event, id: idOf(event.id) }]
      case 'tool-delta': {
        if (unnamed.has(event.part)) return []
        const written = open.get(event.part)
        if (written?.length === 0) {
          // White space before the arguments says nothing, and alone it is no arguments.
          if (event.text.trim() === '') return []
          if (isWrapped(event.text)) wrapped.add(event.part)
        }
        written?.push(event.text)
        if (wrapped.has(event.part)) return []
        break
      }
      case 'tool-end': {
        if (unnamed.has(event.part)) return []
        const written = open.get(event.part)
        open.delete(event.part)
        if (written === undefined) break
        const text = written.join('')
        const inner = unwrapped(text)
        const late: ChatEvent[] = wrapped.has(event.part)
          ? [{ type: 'tool-delta', part: event.part, text: inner ?? text }]
          : []
        if (inner !== undefined || isWhole(text)) return [...late, event]
        held.push(event)
        return late
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
  // Most events are text, for which nothing needs to be allocated.
  return (events) => (events.some(concerns) ? events.flatMap(check) : events)
}

const concerns = ({ type }: ChatEvent): boolean => type.startsWith('tool-') || type === 'finish'
