// A response that passes and calls itself complete, though its last call breaks off at the output cap: its end is told as it is.

import { asObjects, asText, type JsonObject } from '../../ir/json.ts'
import { isWhole } from '../../ir/whole.ts'
import type { Edit } from '../../lib/json-splice.ts'
import { decodeUsage, usageObject } from './usage.ts'

/** The edits of the response; none where it stands. `cap`: the one that was sent. */
export const cutEdits = (response: JsonObject, cap: number | undefined): Edit[] => {
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
