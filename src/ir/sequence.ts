// Overlapping parts, one after the other: for wires that allow one open part at a time.

import type { ChatEvent } from './event.ts'

type PartEvent = Extract<ChatEvent, { part: number }>

/**
 * A transducer from events to events in which parts never overlap and are numbered 0,1,2… in order. Events of the
 * open part pass at once; those of other parts wait until it ends. A `finish` ends whatever is open or waiting; an
 * `error` drops what is waiting and closes nothing, for a broken part must not pass for a whole one.
 */
export const sequence = (): ((event: ChatEvent) => ChatEvent[]) => {
  let open: number | undefined
  let openKind: PartEvent['type'] = 'text-start'
  let next = 0
  let number = 0
  const waiting = new Map<number, PartEvent[]>()

  const emit = (event: PartEvent, out: ChatEvent[]): void => {
    if (event.type === 'opaque') {
      out.push({ ...event, part: next++ })
      return
    }
    if (isStart(event)) {
      open = event.part
      openKind = event.type
      number = next++
    } else if (isEnd(event)) {
      open = undefined
    }
    out.push(event.part === number ? event : { ...event, part: number })
  }

  /** Lets the waiting parts through, in order of their start, until one of them stays open. */
  const drain = (out: ChatEvent[], force: boolean): void => {
    for (const [part, events] of waiting) {
      if (open !== undefined) return
      waiting.delete(part)
      for (const event of events) if (fits(event)) emit(event, out)
      if (force && open !== undefined) close(out)
    }
  }

  /** A start where nothing is open, anything else within the open part: the rest is garbled and has nowhere to go. */
  const fits = (event: PartEvent): boolean =>
    isStart(event) || event.type === 'opaque' ? open === undefined : event.part === open

  const close = (out: ChatEvent[]): void => {
    if (open === undefined) return
    emit({ type: endOf(openKind), part: open } as PartEvent, out)
  }

  return (event) => {
    const out: ChatEvent[] = []
    if (!('part' in event)) {
      if (event.type === 'finish') {
        close(out)
        drain(out, true)
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
    if (open !== undefined && event.part !== open) {
      // Only a part's start may wait: later events of a part that has ended have nowhere to go.
      if (isStart(event) || event.type === 'opaque') waiting.set(event.part, [event])
      return out
    }
    if (!fits(event)) return out
    emit(event, out)
    if (open === undefined && waiting.size > 0) drain(out, false)
    return out
  }
}

const isStart = (event: PartEvent): boolean => event.type.endsWith('-start')
const isEnd = (event: PartEvent): boolean => event.type.endsWith('-end')
const endOf = (start: PartEvent['type']): string => start.replace('-start', '-end')
