// Why the model stopped, both ways.

import type { FinishReason } from '../../ir/event.ts'
import type { Json } from '../../ir/json.ts'

/** What the answer holds, which some servers' reasons contradict. */
type Held = { calls: boolean; refused: boolean }

const CUT = /^(?:length|max_tokens|model_length|max_output_tokens)$/i
/** What was filtered may stand behind the word. */
const FILTERED =
  /^(?:content_filter|sensitive|guardrail|(?:image_)?(?:safety|recitation|prohibited_content)|blocklist|spii)/i

export const isFiltered = (reason: Json | undefined): boolean => typeof reason === 'string' && FILTERED.test(reason)

/** Servers of the wire's kind know more words than its vendor; a word nobody knows still is an end. */
export const decodeFinish = (reason: Json | undefined, { calls, refused }: Held): FinishReason => {
  const word = typeof reason === 'string' ? reason : ''
  if (CUT.test(word)) return 'length'
  if (isFiltered(word)) return 'content-filter'
  if (word === 'model_context_window_exceeded') return 'context-length'
  if (word === 'refusal') return 'refusal'
  // A forced tool finishes with `stop` here, and `tool_calls` may stand where no call was made.
  if (calls) return 'tool-calls'
  return refused ? 'refusal' : 'stop'
}

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
      // Where the refusal can be read the wire says `stop`, as its vendor does.
      if (!refused) return 'content_filter'
      return calls ? called : 'stop'
    case 'tool-calls':
    case 'stop':
    case 'stop-sequence':
    case 'pause':
      return calls ? called : 'stop'
  }
}
