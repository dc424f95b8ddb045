// Compaction of a conversation for providers without their own: an agent ends its input with a trigger and expects one
// item that replaces everything before it. The model is asked for a summary, which the item carries.

import type { GatewayError } from '../../errors.ts'
import type { ChatEvent } from '../../ir/event.ts'
import { asList, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { OpaquePart, UserPart } from '../../ir/part.ts'
import { providerError } from '../refusal/failure.ts'
import { SEAL_PREFIX } from '../seal.ts'
import { summaryText } from '../turns/summary.ts'
import { bareId } from './names.ts'

/** What the model is asked in place of the trigger. */
const INSTRUCTION =
  'This conversation has grown too long and will go on from a summary alone. Write that summary now, for whoever takes ' +
  'over the work: what the user wants and has said must or must not be done, what has been done and found out so far ' +
  '(name files, commands, identifiers and results exactly), what was decided and why, and what remains to be done next. ' +
  'Call no tools: a call ends this without a summary. Answer with the summary only, as text.'

const TAG = `${SEAL_PREFIX}compaction.`

export const isTrigger = (item: Json | undefined): boolean => isObject(item) && item.type === 'compaction_trigger'

/** Whether the answer must be one compaction item: the last item is a trigger. */
export const asksCompaction = (body: JsonObject): boolean => isTrigger(asList(body.input).at(-1))

/** Of an answer to such a request by a server that does not know the trigger and answers the conversation. */
export const withoutCompaction = (): GatewayError => providerError('invalid', { provider: {}, remedy: 'no-compact' })

/** Under either of its vendor's names. */
export const isCompaction = (item: Json | undefined): boolean =>
  isObject(item) && (item.type === 'compaction' || item.type === 'compaction_summary')

export const instruction = (): UserPart => ({ type: 'text', text: INSTRUCTION })

/** The summary in a compaction item of the gateway, as text for a user message; undefined for a provider's own item. */
export const summaryIn = (item: JsonObject): string | undefined => {
  const { type, encrypted_content: sealed } = item
  if (type !== 'compaction' || typeof sealed !== 'string' || !sealed.startsWith(TAG)) return undefined
  return summaryText(Buffer.from(sealed.slice(TAG.length), 'base64url').toString('utf8'))
}

const compaction = (answerId: string, summary: string): OpaquePart => ({
  type: 'opaque',
  origin: 'responses',
  value: {
    type: 'compaction',
    id: `cmp_${bareId(answerId)}`,
    encrypted_content: TAG + Buffer.from(summary, 'utf8').toString('base64url'),
  },
})

/** A transducer from the events of a summary to those of its item. An answer without text stays as it is. */
export const compacted = (): ((event: ChatEvent) => ChatEvent[]) => {
  let id = ''
  let summary = ''
  const others: ChatEvent[] = []
  return (event) => {
    switch (event.type) {
      case 'start':
        id = event.id
        return [event]
      case 'text-delta':
        summary += event.text
        return []
      case 'usage':
      case 'ping':
      case 'error':
        return [event]
      case 'finish':
        return summary === ''
          ? [...others, event]
          : [{ type: 'opaque', part: 0, value: compaction(id, summary) }, event]
      default:
        others.push(event)
        return []
    }
  }
}
