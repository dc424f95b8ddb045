// Puts overlapping parts one after the other, for wires that allow one open part at a time.

import type { ChatEvent } from './event.ts'
import type { Citation } from './part.ts'

type PartEvent = Extract<ChatEvent, { part: number }>

const ENDS = {
  'text-start': 'text-end',
  'refusal-start': 'refusal-end',
  'reasoning-start': 'reasoning-end',
  'tool-start': 'tool-end',
} as const
type Link = Extract<Citation, { kind: 'url' }>
type StartEvent = Extract<PartEvent, { type: keyof typeof ENDS }>

/**
 * A transducer from events to events in which parts never overlap and are numbered 0,1,2… in order. Events of the
 * open part pass at once; those of other parts wait until it ends. A `finish` ends whatever is open or waiting; an
 * `error` drops what is waiting and closes nothing, so that a broken part is not taken for a complete one.
 *
 * `late`: a citation of a text that has ended passes. Otherwise the next text has such a link, without its place, and
 * where none follows one that is empty.
 */
export const sequence = ({ late = false } = {}): ((event: ChatEvent) => ChatEvent[]) => {
  /** The start of the part that is open. */
  let open: StartEvent | undefined
  /** Its number in the output, and that of the next part. */
  let number = 0
  let next = 0
  const waiting = new Map<number, PartEvent[]>()
  /** The texts that have ended, and their numbers in the output. */
  const texts = new Map<number, number>()
  /** Citations that no text has yet. */
  const homeless: Link[] = []

  const emit = (event: PartEvent, out: ChatEvent[]): void => {
    if (event.type === 'opaque') {
      out.push({ ...event, part: next++ })
      return
    }
    if (isStart(event)) {
      open = event
      number = next++
    } else if (isEnd(event)) {
      if (event.type === 'text-end') texts.set(event.part, number)
      open = undefined
    }
    out.push(event.part === number ? event : { ...event, part: number })
    if (event.type === 'text-start') house(number, out)
  }

  const house = (part: number, out: ChatEvent[]): void => {
    for (const citation of homeless.splice(0)) out.push({ type: 'citation', part, citation })
  }

  /** A citation of a text that has ended; whatever else there is of one is malformed. */
  const cite = (event: PartEvent, out: ChatEvent[]): void => {
    const part = texts.get(event.part)
    if (event.type !== 'citation' || part === undefined) return
    if (late) out.push({ ...event, part })
    else if (event.citation.kind === 'url') homeless.push(withoutPlace(event.citation))
  }

  /** Lets the waiting parts through, in order of their start, until one of them stays open. */
  const drain = (out: ChatEvent[]): void => {
    for (const [part, events] of waiting) {
      if (open !== undefined) return
      waiting.delete(part)
      for (const event of events) {
        if (fits(event)) emit(event, out)
        else cite(event, out)
      }
    }
  }

  /** A start needs that no part is open; any other event must belong to the open part. The rest is malformed. */
  const fits = (event: PartEvent): boolean =>
    isStart(event) || event.type === 'opaque' ? open === undefined : event.part === open?.part

  const close = (out: ChatEvent[]): void => {
    if (open !== undefined) emit({ type: ENDS[open.type], part: open.part }, out)
  }

  return (event) => {
    const out: ChatEvent[] = []
    if (!('part' in event)) {
      if (event.type === 'finish') {
        close(out)
        while (waiting.size > 0) {
          drain(out)
          close(out)
        }
        if (homeless.length > 0) {
          const part = next++
          out.push({ type: 'text-start', part })
          house(part, out)
          out.push({ type: 'text-end', part })
        }
      } else if (event.type === 'error') {
        waiting.clear()
      }
      out.push(event)
      return out
    }
    const held = waiting.get(event.part)
    if (held !== undefined) {
      held.push(event)
      return out
    }
    if (open !== undefined && event.part !== open.part) {
      // Only a part's start may wait: other events here belong to a part that has ended.
      if (isStart(event) || event.type === 'opaque') waiting.set(event.part, [event])
      else cite(event, out)
      return out
    }
    if (!fits(event)) {
      cite(event, out)
      return out
    }
    emit(event, out)
    if (open === undefined && waiting.size > 0) drain(out)
    return out
  }
}

const withoutPlace = ({ start: _, end: __, ...link }: Link): Link => link

const isStart = (event: PartEvent): event is StartEvent => event.type in ENDS
const isEnd = (event: PartEvent): boolean => event.type.endsWith('-end')
