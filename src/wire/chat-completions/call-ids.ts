// Ids of calls that a provider of this wire accepts, derived from any others so that the same one always gives the same.

import { asList, isObject } from '../../ir/json.ts'
import type { Quirks } from '../../ir/quirks.ts'
import { digest } from '../../lib/digest.ts'
import type { Edit } from '../../lib/json-splice.ts'

/** The vendor's limit. */
const MAX_ID = 40
/** The only form that servers with `short_call_ids` take. */
const SHORT = /^[a-zA-Z0-9]{9}$/

export const sentCallId = (id: string, { shortCallIds }: Quirks): string => {
  if (shortCallIds) return SHORT.test(id) ? id : digest(id).slice(-9)
  if (id.length > MAX_ID) return `${id.slice(0, MAX_ID - 12)}_${digest(id)}`
  return id === '' ? 'call_0' : id
}

/** The edits of a body that passes to a server with `short_call_ids`. */
export const callIdEdits = (messages: readonly unknown[]): Edit[] => {
  const edits: Edit[] = []
  const shorten = (id: unknown, path: Edit['path']): void => {
    if (typeof id !== 'string' || SHORT.test(id)) return
    edits.push({ path, value: JSON.stringify(sentCallId(id, { shortCallIds: true })) })
  }
  for (const [at, message] of messages.entries()) {
    if (!isObject(message)) continue
    shorten(message.tool_call_id, ['messages', at, 'tool_call_id'])
    for (const [index, call] of asList(message.tool_calls).entries())
      if (isObject(call)) shorten(call.id, ['messages', at, 'tool_calls', index, 'id'])
  }
  return edits
}
