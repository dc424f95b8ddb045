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

/**
 * Whether words of a refusal begin within a name that the request has for something of its own, such as a tool or a member of its
 * schema, and that the refusal tells as a name.
 */
export const isClientsName = (sent: JsonObject, text: string, { at }: Pick<Span, 'at'>): boolean => {
  const start = at - (/[\w-]*$/.exec(text.slice(Math.max(0, at - MOST_NAME), at))?.[0].length ?? 0)
  const name = /^[\w-]+/.exec(text.slice(start, start + MOST_NAME))?.[0] ?? ''
  const before = text.slice(Math.max(0, start - MOST_NAME), start)
  const isTold = NAMING.test(before) || (/(?:^|\n)$/.test(before) && text[start + name.length] === ':')
  return name !== '' && isTold && Object.values(sent).some((value) => hasName(value, name))
}

const MOST_NAME = 64
/** Before a name: a quote, a path, or what it is the name of. */
const NAMING =
  /(?:['"`‘“「.[/]|\b(?:functions?|tools?|parameters?|propert(?:y|ies)|fields?|arguments?|members?|names?|named|called):? )$/i

const hasName = (value: Json | undefined, name: string): boolean => {
  if (typeof value === 'string') return value === name
  if (Array.isArray(value)) return value.some((one) => hasName(one, name))
  return isObject(value) && Object.entries(value).some(([key, one]) => key === name || hasName(one, name))
}

const holds = (value: Json | undefined, text: string): boolean => {
  if (typeof value === 'string') return value.includes(text)
  if (Array.isArray(value)) return value.some((one) => holds(one, text))
  return isObject(value) && Object.values(value).some((one) => holds(one, text))
}
