// Ensures that an answer is as whole as it says: tool calls have a name, an id of their own, and arguments that do not break
// off; one that has used up its output cap was cut there, whatever its server calls that.

import { GatewayError } from '../errors.ts'
import { seenOf } from '../lib/json-mark.ts'
import { seenObject } from '../lib/json-reader.ts'
import { distinct } from './distinct.ts'
import type { ChatEvent, ChatResponse, FinishReason } from './event.ts'
import { parseJson } from './json.ts'
import type { Usage } from './usage.ts'

/** Finish reasons that tell the client the answer was cut, so that it may end within a call. */
const CUTS = new Set<FinishReason>(['length', 'context-length', 'content-filter', 'refusal'])

/**
 * The reason as the figures tell it: an answer that came to the cap was cut, unless a call stands whole at its end. `cap`:
 * the one that was sent. `hasWholeCall`: whether the last call has arguments, and whole ones: some servers close an empty
 * one themselves.
 */
const reasonAt = (
  reason: FinishReason,
  { output, reasoning = 0 }: Usage,
  cap: number | undefined,
  hasWholeCall: boolean,
): FinishReason => {
  if (cap === undefined || output === undefined) return reason
  // Some servers' caps do not hold for the thought, which their figures hold all the same.
  if (output !== cap && output - reasoning < cap) return reason
  return reason === 'stop' || (reason === 'tool-calls' && !hasWholeCall) ? 'length' : reason
}

/** Whether a call's input is whole, and says anything. Of free text that cannot be told. */
const isFilledCall = (kind: 'function' | 'custom', input: string): boolean =>
  kind === 'custom' || seenObject(input)?.isFilled === true

const broken = () =>
  new GatewayError(
    'upstream_error',
    'Server error: the model gave a tool call that breaks off in the middle. Try again.',
  )
const nameless = () =>
  new GatewayError('upstream_error', 'Server error: the model gave a tool call without a name. Try again.')

/** Whether a function's arguments are an object, or nothing at all. Those that pass unread may be. */
export const isWhole = (input: string): boolean => isWholeUnread(input) || seenObject(input) !== undefined

const isWholeUnread = (input: string): boolean => input.trim() === '' || seenOf(input) !== undefined

/**
 * The text of the object in arguments that are themselves the JSON of a text, or say that there are none, as some models and
 * their servers write them; undefined for any others.
 */
const unwrapped = (input: string): string | undefined => {
  let text = input
  for (let depth = 0; depth < MAX_WRAPS && isWrapped(text); depth++) {
    const inner = parseJson(text)
    if (typeof inner !== 'string') break
    text = inner
  }
  if (NOTHING.test(text)) return '{}'
  if (text === input || !isWhole(text)) return undefined
  return text.trim() === '' ? '{}' : text
}

const MAX_WRAPS = 3
/** Whether they may be: by what they begin with. */
const isWrapped = (input: string): boolean => /^\s*["n[]/.test(input)
const NOTHING = /^\s*(?:null|\[\s*\])\s*$/

/**
 * The answer with unique call ids, as clients match results to calls by id alone. `cap`: the output cap that was sent. Throws `upstream_error` for a call
 * without a name, and for a function call whose arguments break off unless the finish reason says the answer was cut.
 */
export const requireWhole = (response: ChatResponse, cap?: number): ChatResponse => {
  const idOf = distinct()
  const last = response.parts.findLast((part) => part.type === 'tool-call')
  const hasWholeCall = last !== undefined && isFilledCall(last.kind, unwrapped(last.input) ?? last.input)
  const finish = reasonAt(response.finish, response.usage, cap, hasWholeCall)
  const parts = response.parts.map((part) => {
    if (part.type !== 'tool-call') return part
    if (part.name === '') throw nameless()
    if (part.kind === 'custom') return { ...part, id: idOf(part.id) }
    const input = unwrapped(part.input) ?? part.input
    if (!isWhole(input) && !CUTS.has(finish)) throw broken()
    return { ...part, id: idOf(part.id), input: input.trim() === '' ? '{}' : input }
  })
  return { ...response, parts, finish }
}

/**
 * The same for a stream's events, as a transducer. The `tool-end` of a call whose arguments are not an object waits for
 * the `finish`: if that says the answer was cut it passes, else an `error` replaces the `finish`. An `error` also follows
 * a call that never ended, and one without a name, whose events are left out. Arguments that are the JSON of a text are
 * held until they end.
 */
export const wholeCalls = (cap?: number): ((events: ChatEvent[]) => ChatEvent[]) => {
  const open = new Map<number, string[] | undefined>()
  const held: ChatEvent[] = []
  const idOf = distinct()
  const unnamed = new Set<number>()
  const wrapped = new Set<number>()
  let hasWholeCall = false

  const check = (event: ChatEvent): ChatEvent[] => {
    switch (event.type) {
      case 'tool-start':
        if (event.name === '') {
          unnamed.add(event.part)
          return []
        }
        open.set(event.part, event.kind === 'function' ? [] : undefined)
        hasWholeCall = event.kind === 'custom'
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
        const object = seenObject(inner ?? text)
        hasWholeCall = object?.isFilled === true
        const late: ChatEvent[] = wrapped.has(event.part)
          ? [{ type: 'tool-delta', part: event.part, text: inner ?? text }]
          : []
        if (inner !== undefined || object !== undefined || isWholeUnread(text)) return [...late, event]
        held.push(event)
        return late
      }
      case 'finish': {
        const reason = reasonAt(event.reason, event.usage, cap, hasWholeCall)
        if (unnamed.size === 0) {
          const told = reason === event.reason ? event : { ...event, reason }
          if (held.length === 0 && open.size === 0) return [told]
          if (CUTS.has(reason)) return [...held, told]
        }
        return [
          { type: 'usage', usage: event.usage },
          { type: 'error', error: unnamed.size > 0 ? nameless() : broken() },
        ]
      }
      default:
        break
    }
    return [event]
  }
  // Most events are text, for which nothing needs to be allocated.
  return (events) => (events.some(concerns) ? events.flatMap(check) : events)
}

const concerns = ({ type }: ChatEvent): boolean => type.startsWith('tool-') || type === 'finish'

const silent = (): GatewayError =>
  new GatewayError('upstream_error', 'Server error: the model answered without the text that was asked for. Try again.')

/** For a request that only a text answers: throws for an answer without one. */
export const requireText = (response: ChatResponse): ChatResponse => {
  if (response.parts.some((part) => part.type === 'text' && part.text.trim() !== '')) return response
  throw silent()
}

/** The same for a stream's events: an `error` takes the place of the `finish`. */
export const needingText = (): ((events: ChatEvent[]) => ChatEvent[]) => {
  let spoke = false
  const check = (event: ChatEvent): ChatEvent[] => {
    spoke ||= event.type === 'text-delta' && event.text.trim() !== ''
    if (event.type !== 'finish' || spoke) return [event]
    return [
      { type: 'usage', usage: event.usage },
      { type: 'error', error: silent() },
    ]
  }
  return (events) => events.flatMap(check)
}
