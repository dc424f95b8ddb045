// Names of a tool's arguments in the characters that this provider accepts: for one name with others, such as `$top` or
// `filter[id]`, it refuses the whole request. Such names are replaced in the request and restored in the answer's calls.

import { distinct } from '../../ir/distinct.ts'
import { isObject, type JsonObject } from '../../ir/json.ts'
import { parseExact } from '../../lib/json-exact.ts'
import type { SentArguments, Undo } from '../codec.ts'
import { names } from '../object-schema.ts'

const MAX = 64
const ACCEPTED = /^[a-zA-Z0-9_.-]{1,64}$/
const FORBIDDEN = /[^a-zA-Z0-9_.-]/g

/** By the name a tool is sent under: the replaced names of its arguments, each with the name that is sent for it. */
export type ReplacedNames = Map<string, ReadonlyMap<string, string>>

/** The schema, an object at its root, of the tool sent under `tool`, with accepted names. Adds to `replaced`. */
export const withAcceptedNames = (schema: JsonObject, tool: string, replaced: ReplacedNames): JsonObject => {
  const { properties } = schema
  const own = isObject(properties) ? Object.keys(properties) : []
  if (!isObject(properties) || own.every(isAccepted)) return schema
  const claim = distinct(MAX)
  for (const name of own) if (isAccepted(name)) claim(name)
  const sent = new Map<string, string>()
  for (const name of own)
    if (!isAccepted(name)) sent.set(name, claim(name.replace(FORBIDDEN, '_').slice(0, MAX) || '_'))
  replaced.set(tool, sent)
  const out: JsonObject = { ...schema, properties: renamed(properties, (name) => sent.get(name)) }
  if (schema.required !== undefined) out.required = names(schema.required).map((name) => sent.get(name) ?? name)
  return out
}

const isAccepted = (name: string): boolean => ACCEPTED.test(name)

/** The object with each member under its new name, where it has one. */
const renamed = (object: JsonObject, newName: (name: string) => string | undefined): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [newName(name) ?? name, value]))

/** The arguments of a past call of the tool sent under `tool`, under the names that are sent. */
export const sentInput = (input: JsonObject, tool: string, replaced: ReplacedNames): JsonObject => {
  const sent = replaced.get(tool)
  return sent === undefined ? input : renamed(input, (name) => sent.get(name))
}

/** What an answer's decoder needs to restore the client's names. */
export const undoOf = (replaced: ReplacedNames): NonNullable<Undo['arguments']> =>
  Object.fromEntries(
    Array.from(replaced, ([tool, sent]) => [tool, Object.fromEntries(Array.from(sent, ([own, name]) => [name, own]))]),
  )

/** A call's arguments, JSON text, under the client's names. Text that is not an object, or cut off, stays as it is. */
export const clientInput = (text: string, sent: SentArguments): string => {
  try {
    const input = parseExact(text)
    return isObject(input) ? JSON.stringify(renamed(input, (name) => ownMember(sent, name))) : text
  } catch {
    return text
  }
}

const ownMember = (sent: SentArguments, name: string): string | undefined =>
  Object.hasOwn(sent, name) ? sent[name] : undefined
