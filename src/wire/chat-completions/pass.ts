// The chat-completions wire to a provider that speaks it: the members to splice, everything else is the client's.

import { isObject, type JsonObject } from '../../ir/json.ts'
import type { Edit } from '../../lib/json-splice.ts'
import type { PassOptions } from '../codec.ts'
import { isForeign } from '../pass.ts'

export const outputCap = (body: JsonObject): number | undefined => {
  if (typeof body.max_completion_tokens === 'number') return body.max_completion_tokens
  return typeof body.max_tokens === 'number' ? body.max_tokens : undefined
}

/** Whether the client wants the usage chunk itself. */
export const includeUsage = (body: JsonObject): boolean =>
  isObject(body.stream_options) && body.stream_options.include_usage === true

export const passEdits = (body: JsonObject, options: PassOptions): Edit[] => {
  const edits: Edit[] = []
  if (body.model !== options.model) edits.push({ path: ['model'], value: JSON.stringify(options.model) })
  if (body.stream === true && !includeUsage(body)) {
    edits.push(
      isObject(body.stream_options)
        ? { path: ['stream_options', 'include_usage'], value: 'true' }
        : { path: ['stream_options'], value: '{"include_usage":true}' },
    )
  }
  if (options.outputCap !== undefined) edits.push(...capEdits(body, options.outputCap, options.quirks.maxTokensField))
  if (Array.isArray(body.messages) && !options.quirks.readsTags) edits.push(...foreignEdits(body.messages))
  return edits
}

// Whichever names the client used are lowered; where it used none, the provider's own name is added.
const capEdits = (body: JsonObject, cap: number, field = 'max_completion_tokens'): Edit[] => {
  const used = ['max_completion_tokens', 'max_tokens'].filter((name) => typeof body[name] === 'number')
  return (used.length > 0 ? used : [field]).map((name) => ({ path: [name], value: String(cap) }))
}

/** What was added to an assistant's message so that a foreign thought could come back: unknown at this provider. */
const foreignEdits = (messages: readonly unknown[]): Edit[] => {
  const edits: Edit[] = []
  messages.forEach((message, at) => {
    if (!isObject(message) || !Array.isArray(message.reasoning_details)) return
    if (!message.reasoning_details.some((detail) => isObject(detail) && isForeign(detail.data))) return
    edits.push({ path: ['messages', at, 'reasoning_details'], value: undefined })
    if (message.reasoning_content !== undefined) {
      edits.push({ path: ['messages', at, 'reasoning_content'], value: undefined })
    }
  })
  return edits
}
