// Finish reasons, both ways.

import type { FinishReason } from '../../ir/event.ts'
import { asObject, asObjects, asText, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { isWhole } from '../../ir/whole.ts'
import type { Edit } from '../../lib/json-splice.ts'
import { isCut, isFiltered, wordOf } from '../turns/ending.ts'
import { callsIn } from './assistant.ts'
import { decodeUsage } from './usage.ts'

/** What the answer holds: some servers' reasons contradict it. */
type Held = { calls: boolean; refused: boolean }

/** Whether a frame is the last one's word: some servers write more than one space before it. */
export const isDone = (data: string): boolean => /^\s*\[DONE\]/.test(data)

/**
 * The edits of a whole answer that passes: where a call of it breaks off at the cap and it does not say that it was cut, and
 * where an object stands for the word.
 */
export const endEdits = (body: JsonObject, cap = Number.POSITIVE_INFINITY): Edit[] => {
  const isAtCap = (decodeUsage(body.usage)?.output ?? 0) >= cap
  return asObjects(body.choices).flatMap(({ finish_reason: reason, message }, at): Edit[] => {
    const isHalf = isAtCap && !isCut(reason) && breaksOff(asObject(message))
    const ending = isHalf ? 'length' : isObject(reason) ? wordOf(reason) : ''
    return ending === '' ? [] : [{ path: ['choices', at, 'finish_reason'], value: JSON.stringify(ending) }]
  })
}

const breaksOff = (message: JsonObject): boolean =>
  !isWhole(asText(asObject(callsIn(message).at(-1)?.function).arguments))

/** Other servers use more reasons than the vendor. An unknown one counts as an end. */
export const decodeFinish = (reason: Json | undefined, { calls, refused }: Held): FinishReason => {
  const value = wordOf(reason)
  if (value === 'model_context_window_exceeded') return 'context-length'
  if (isCut(value)) return 'length'
  if (isFiltered(value)) return 'content-filter'
  if (value === 'refusal') return 'refusal'
  // A forced tool finishes with `stop` on this wire, and `tool_calls` may come without a call.
  if (calls) return 'tool-calls'
  return refused ? 'refusal' : 'stop'
}

/** The stop sequence that an answer ended at, where its server says which (`stop_reason`, `matched_stop`). */
export const stopIn = (
  { finish_reason: reason, stop_reason: told, matched_stop: matched }: JsonObject,
  stops: readonly string[] = [],
): string | undefined => (reason === 'stop' ? stops.find((stop) => stop === told || stop === matched) : undefined)

/** How it finished, with that. */
export const stoppedAt = (
  finish: FinishReason,
  stop: string | undefined,
): { finish: FinishReason; stopSequence?: string } =>
  finish === 'stop' && stop !== undefined ? { finish: 'stop-sequence', stopSequence: stop } : { finish }

/** `legacy`: the client reads calls as `function_call`. */
export const encodeFinish = (reason: FinishReason, { calls, refused, legacy }: Held & { legacy: boolean }): string => {
  const called = legacy ? 'function_call' : 'tool_calls'
  switch (reason) {
    case 'length':
    case 'context-length':
      return 'length'
    case 'content-filter':
      return 'content_filter'
    case 'refusal':
      // With a refusal text the reason is `stop`, as the vendor has it.
      if (!refused) return 'content_filter'
      return calls ? called : 'stop'
    case 'tool-calls':
    case 'stop':
    case 'stop-sequence':
    case 'pause':
      return calls ? called : 'stop'
  }
}
