// The messages wire to a provider that speaks it: the members to splice, everything else is the client's.

import { isObject, type JsonObject } from '../../ir/json.ts'
import type { Edit } from '../../lib/json-splice.ts'
import type { PassOptions } from '../codec.ts'
import { isForeign, modelEdit, refusedMembers, withoutRefused } from '../pass.ts'
import { MIN_BUDGET } from './reasoning.ts'

export const outputCap = (body: JsonObject): number | undefined =>
  typeof body.max_tokens === 'number' ? body.max_tokens : undefined

export const passEdits = (body: JsonObject, options: PassOptions): Edit[] => {
  const edits: Edit[] = [modelEdit(options)]
  if (options.outputCap !== undefined) {
    edits.push({ path: ['max_tokens'], value: String(options.outputCap) })
    edits.push(...budgetEdits(body, options.outputCap))
  }
  if (Array.isArray(body.messages) && !options.quirks.readsTags) edits.push(...foreignEdits(body.messages))
  return withoutRefused(edits, refusedMembers(body, options.quirks), options.quirks)
}

// A thinking budget must stay below the output cap: where a lowered cap leaves no room for one, thinking is off.
const budgetEdits = (body: JsonObject, cap: number): Edit[] => {
  const { thinking } = body
  if (!isObject(thinking) || typeof thinking.budget_tokens !== 'number' || thinking.budget_tokens < cap) return []
  return cap > MIN_BUDGET
    ? [{ path: ['thinking', 'budget_tokens'], value: String(cap - 1) }]
    : [{ path: ['thinking'], value: '{"type":"disabled"}' }]
}

/** Thoughts of other providers, which this one could not verify; a turn that held nothing else goes with them. */
const foreignEdits = (messages: readonly unknown[]): Edit[] => {
  const edits: Edit[] = []
  messages.forEach((message, at) => {
    if (!isObject(message) || message.role !== 'assistant' || !Array.isArray(message.content)) return
    const foreign: number[] = []
    message.content.forEach((block, index) => {
      if (isObject(block) && (isForeign(block.signature) || isForeign(block.data))) foreign.push(index)
    })
    if (foreign.length === 0) return
    if (foreign.length === message.content.length) edits.push({ path: ['messages', at], value: undefined })
    else for (const index of foreign) edits.push({ path: ['messages', at, 'content', index], value: undefined })
  })
  return edits
}
