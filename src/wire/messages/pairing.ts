// Which result answers which call, and the id each call is sent with. Clients repeat ids and answer calls out of order,
// twice or never; the provider takes unique ids only.

import { distinct } from '../../ir/distinct.ts'
import type { ToolCallPart, ToolResultPart } from '../../ir/part.ts'
import { placeOf } from '../../ir/place.ts'
import type { Turn } from '../../ir/request.ts'
import { waitingCalls } from '../tools/waiting-calls.ts'
import { MAX_ID, sentCallId } from './names.ts'

export type Pairing = {
  /** Results that answer a call; the others are orphans. */
  answered: ReadonlySet<ToolResultPart>
  idOf(call: ToolCallPart): string
  resultOf(call: ToolCallPart): ToolResultPart | undefined
  /** A result's index among all results. */
  orderOf(result: ToolResultPart): number
  turnOf(result: ToolResultPart): number
  pathOf(result: ToolResultPart, turnPath: (turn: number) => string): string
}

type Place = { order: number; turn: number; part: number }

export const pair = (turns: Turn[]): Pairing => {
  const ids = new Map<ToolCallPart, string>()
  const results = new Map<ToolCallPart, ToolResultPart>()
  const answered = new Set<ToolResultPart>()
  const places = new Map<ToolResultPart, Place>()
  const waiting = waitingCalls<ToolCallPart>()
  /** Results without a call before them. */
  const lost: ToolResultPart[] = []
  const unique = distinct(MAX_ID)

  const match = (call: ToolCallPart, result: ToolResultPart): void => {
    results.set(call, result)
    answered.add(result)
  }

  turns.forEach((turn, at) => {
    turn.parts.forEach((part, number) => {
      if (part.type === 'tool-call') {
        ids.set(part, unique(sentCallId(part.id)))
        waiting.add(part.id, at, part)
      } else if (part.type === 'tool-result') {
        places.set(part, { order: places.size, turn: at, part: number })
        const call = waiting.take(part.callId)
        if (call !== undefined) match(call, part)
        else lost.push(part)
      }
    })
  })
  // Some clients put a result before its call. It stands in for none that has a result of its own: ids may come again.
  const early = Map.groupBy(lost.reverse(), ({ callId }) => callId)
  for (const call of ids.keys()) {
    const result = results.has(call) ? undefined : early.get(call.id)?.pop()
    if (result !== undefined) match(call, result)
  }
  const place = (result: ToolResultPart): Place => places.get(result) ?? { order: 0, turn: 0, part: 0 }
  return {
    answered,
    idOf: (call) => ids.get(call) ?? sentCallId(call.id),
    resultOf: (call) => results.get(call),
    orderOf: (result) => place(result).order,
    turnOf: (result) => place(result).turn,
    pathOf: (result, turnPath) => placeOf(result, `${turnPath(place(result).turn)}.content.${place(result).part}`),
  }
}
