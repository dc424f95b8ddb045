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
  const earlyResults = new Map<string, ToolResultPart[]>()
  const unique = distinct(MAX_ID)

  const match = (call: ToolCallPart, result: ToolResultPart): void => {
    results.set(call, result)
    answered.add(result)
  }

  turns.forEach((turn, at) => {
    turn.parts.forEach((part, number) => {
      if (part.type === 'tool-call') {
        ids.set(part, unique(sentCallId(part.id)))
        const early = earlyResults.get(part.id)?.shift()
        if (early !== undefined) match(part, early)
        else waiting.add(part.id, at, part)
      } else if (part.type === 'tool-result') {
        places.set(part, { order: places.size, turn: at, part: number })
        const call = waiting.take(part.callId)
        if (call !== undefined) match(call, part)
        else listOf(earlyResults, part.callId).push(part)
      }
    })
  })
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

const listOf = <T>(map: Map<string, T[]>, key: string): T[] => {
  const list = map.get(key) ?? []
  map.set(key, list)
  return list
}
