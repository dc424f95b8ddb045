// The end of a response that passes, told as it is: of one that calls itself complete, though its last call breaks off at the
// output cap, and of one that is incomplete for a reason by another wire's word.

import { asObject, asObjects, asText, type JsonObject } from '../../ir/json.ts'
import { isWhole } from '../../ir/whole.ts'
import type { Edit } from '../../lib/json-splice.ts'
import { isCut, isFiltered } from '../turns/ending.ts'
import { decodeUsage, usageObject } from './usage.ts'

/** The edits of the response; none where it stands. `cap`: the one that was sent. */
export const endEdits = (response: JsonObject, cap: number | undefined): Edit[] =>
  response.status === 'incomplete' ? reasonEdits(asObject(response.incomplete_details)) : cutEdits(response, cap)

/** Clients know these two reasons alone. */
const reasonEdits = ({ reason }: JsonObject): Edit[] => {
  const known = isFiltered(reason) ? 'content_filter' : isCut(reason) ? 'max_output_tokens' : reason
  return known === reason ? [] : [{ path: ['incomplete_details', 'reason'], value: JSON.stringify(known) }]
}

const cutEdits = (response: JsonObject, cap: number | undefined): Edit[] => {
  const output = decodeUsage(usageObject(response))?.output
  if (cap === undefined || output === undefined || output < cap || response.status !== 'completed') return []
  const items = asObjects(response.output)
  const at = items.length - 1
  const last = items[at]
  if (last?.type !== 'function_call' || isWhole(asText(last.arguments))) return []
  return [
    { path: ['status'], value: '"incomplete"' },
    { path: ['incomplete_details'], value: '{"reason":"max_output_tokens"}' },
    { path: ['output', at, 'status'], value: '"incomplete"' },
  ]
}
