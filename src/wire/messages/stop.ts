// Why the model stopped, in both directions.

import type { FinishReason } from '../../ir/event.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { isCut, isFiltered, wordOf } from '../turns/ending.ts'

const REASONS = new Map<unknown, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop-sequence'],
  ['max_tokens', 'length'],
  ['tool_use', 'tool-calls'],
  ['refusal', 'refusal'],
  ['pause_turn', 'pause'],
  ['compaction', 'pause'],
  ['model_context_window_exceeded', 'context-length'],
])

/**
 * The reason that an answer's end should have given; undefined where it stands. Some servers call an end by a stop sequence,
 * which they name, a turn's end, or have an object for the word. `cut`: a call breaks off at the cap.
 */
export const mended = (
  {
    stop_reason: reason,
    stop_sequence: sequence,
  }: { stop_reason?: Json | undefined; stop_sequence?: Json | undefined },
  cut = false,
): string | undefined => {
  const word = wordOf(reason)
  if (cut && word === 'tool_use') return 'max_tokens'
  if (word === 'end_turn' && typeof sequence === 'string' && sequence !== '') return 'stop_sequence'
  return isObject(reason) && word !== '' ? word : undefined
}

/**
 * `calls`: how many the client must carry out, not counting structured output by tool. They decide between an end and
 * calls, whatever the provider's reason says.
 */
export const decodeStop = (raw: Json | undefined, calls: number, sequence?: string): FinishReason => {
  const reason = REASONS.get(mended({ stop_reason: raw, stop_sequence: sequence }) ?? raw) ?? otherStop(raw)
  if (reason === 'tool-calls' && calls === 0) return 'stop'
  return reason === 'stop' && calls > 0 ? 'tool-calls' : reason
}

/** Servers that also speak other wires use their values here. */
const otherStop = (raw: Json | undefined): FinishReason =>
  isCut(raw) ? 'length' : isFiltered(raw) ? 'content-filter' : 'stop'

/** `calls`, `refused`: what the answer holds. Clients act on the reason, so it must agree with that. */
export const encodeStop = (
  reason: FinishReason,
  stopSequence: string | undefined,
  calls: number,
  refused: boolean,
): JsonObject => {
  const stopReason = stopReasonFor(reason, stopSequence, calls, refused)
  return {
    stop_reason: stopReason,
    stop_sequence: stopReason === 'stop_sequence' ? (stopSequence ?? null) : null,
    stop_details: stopReason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null,
  }
}

const stopReasonFor = (
  reason: FinishReason,
  stopSequence: string | undefined,
  calls: number,
  refused: boolean,
): string => {
  switch (reason) {
    case 'length':
      return 'max_tokens'
    case 'refusal':
    case 'content-filter':
      return 'refusal'
    case 'pause':
      return 'pause_turn'
    case 'context-length':
      return 'model_context_window_exceeded'
    case 'stop-sequence':
      if (calls > 0) return 'tool_use'
      return stopSequence === undefined ? 'end_turn' : 'stop_sequence'
    case 'stop':
    case 'tool-calls':
      if (calls > 0) return 'tool_use'
      return refused ? 'refusal' : 'end_turn'
  }
}
