// A request in the words that a server's refusal has asked for: what the system says, by the user; JSON, by that word; the answer
// as a stream, or whole.

import { placed, placeOf } from '../../ir/place.ts'
import type { Quirks } from '../../ir/quirks.ts'
import type { ChatRequest, Turn } from '../../ir/request.ts'
import { JSON_ONLY } from '../../wire/settings/json-mode.ts'

export const reworded = (request: ChatRequest, { noSystem, saysJson, streams }: Quirks): ChatRequest => {
  const formed = streams === undefined ? request : { ...request, stream: streams }
  const asking = saysJson === true ? sayingJson(formed) : formed
  return noSystem === true && asking.turns.some(({ role }) => role === 'system') ? withoutSystem(asking) : asking
}

/** What opens the conversation begins the user's first turn; within it the user says it. */
const withoutSystem = (request: ChatRequest): ChatRequest => {
  const turns: Turn[] = []
  const opening: Extract<Turn, { role: 'user' }>['parts'] = []
  for (const turn of request.turns) {
    const said = turn.role === 'system' ? turn.parts : []
    if (turn.role === 'system' && turns.length === 0) opening.push(...said)
    else if (turn.role === 'system') turns.push(placed({ role: 'user', parts: said }, placeOf(turn, 'messages')))
    else if (turn.role === 'user' && turns.length === 0)
      turns.push(placed({ ...turn, parts: [...opening.splice(0), ...turn.parts] }, placeOf(turn, 'messages')))
    else turns.push(turn)
  }
  return { ...request, turns: opening.length === 0 ? turns : [{ role: 'user', parts: opening }, ...turns] }
}

const sayingJson = (request: ChatRequest): ChatRequest => {
  const { output, turns } = request
  if (output?.type !== 'json-object') return request
  const [first, ...rest] = turns
  const said = { type: 'text' as const, text: JSON_ONLY }
  if (first?.role !== 'system') return { ...request, turns: [{ role: 'system', parts: [said] }, ...turns] }
  const opened = placed({ ...first, parts: [...first.parts, said] }, placeOf(first, 'messages.0'))
  return { ...request, turns: [opened, ...rest] }
}
