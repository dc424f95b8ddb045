// What of a refusal the client itself has said: no text of its own may speak for its provider.

import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { Span } from './kinds.ts'
import { aroundIn, type Name } from './names.ts'

/** The strings of the conversation. */
export const promptIn = (sent: JsonObject): Json[] =>
  [sent.messages, sent.input, sent.system, sent.instructions, sent.prompt, sent.tools].filter(
    (one) => one !== undefined,
  )

/** Whether a name comes from a text that the client sent and the refusal quotes: what is around it stands there, too. */
export const isQuotedFrom = (prompt: Json, { context, before }: Pick<Name, 'context' | 'before'>): boolean =>
  context.length > 0 && holds(prompt, context) && !holds(prompt, before)

/**
 * Whether words of a refusal stand in the request with what is on either side of them: no client's text may speak for its
 * provider, not with its first or last words either.
 */
export const isClients = (sent: JsonObject, text: string, { at, length }: Span): boolean =>
  [text.slice(Math.max(0, at - BESIDE), at + length), text.slice(at, at + length + BESIDE)].some(
    (words) => words.length === length + BESIDE && holds(sent, words),
  ) || holds(sent, aroundIn(text, at, length).context)

const BESIDE = 8

const holds = (value: Json | undefined, text: string): boolean => {
  if (typeof value === 'string') return value.includes(text)
  if (Array.isArray(value)) return value.some((one) => holds(one, text))
  return isObject(value) && Object.values(value).some((one) => holds(one, text))
}
