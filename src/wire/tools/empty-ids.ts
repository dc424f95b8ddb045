// Calls and results of a history without ids, as some servers make them: a result answers the first call that waits.

import type { ToolCallPart } from '../../ir/part.ts'
import type { Turn } from '../../ir/request.ts'

/** Gives each such call an id of its own, and its result the same. */
export const pairEmptyIds = (turns: readonly Turn[]): void => {
  const waiting: ToolCallPart[] = []
  for (const [at, { parts }] of turns.entries()) {
    for (const [number, part] of parts.entries()) {
      if (part.type === 'tool-call' && part.id === '') {
        part.id = `call_${at}_${number}`
        waiting.push(part)
      } else if (part.type === 'tool-result' && part.callId === '') {
        const call = waiting.shift()
        if (call === undefined) continue
        part.callId = call.id
        part.kind = call.kind
      }
    }
  }
}
