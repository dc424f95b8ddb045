// Names of a tool's arguments in the characters that this provider accepts: for one name with others, such as `$top` or
// `filter[id]`, it refuses the whole request. Such names are replaced in the request and restored in the answer's calls.

import { distinct } from '../../ir/distinct.ts'
import { isObject, type JsonObject, parseJson } from '../../ir/json.ts'
import type { SentArguments, Undo } from '../codec.ts'
import { names } from '../schema/object.ts'

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

/** Arguments in pieces, as they arrive: `end` gives what is left of text that breaks off. */
type RestoredNames = { push(piece: string): string; end(): string }

/** The JSON text of a call's arguments with the client's names. Text that is not an object stays as it is. */
export const restoredNames = (sent: SentArguments): RestoredNames => {
  let depth = 0
  let isInObject = false
  let isString = false
  let isEscaped = false
  /** Whether the next string is the name of an own member. */
  let isNameNext = false
  /** The name that is being read, as it is written; undefined outside of one. */
  let name: string | undefined

  const push = (piece: string): string => {
    let out = ''
    let from = 0
    for (let at = 0; at < piece.length; at++) {
      const char = piece[at]
      if (isEscaped) isEscaped = false
      else if (isString) {
        if (char === '\\') isEscaped = true
        else if (char === '"') {
          isString = false
          if (name === undefined) continue
          out += restored(name + piece.slice(from, at + 1), sent)
          from = at + 1
          name = undefined
        }
      } else if (char === '"') {
        isString = true
        if (!isNameNext) continue
        out += piece.slice(from, at)
        from = at
        name = ''
        isNameNext = false
      } else if (char === '{' || char === '[') {
        if (depth === 0) isInObject = char === '{'
        isNameNext = isInObject && depth === 0
        depth++
      } else if (char === '}' || char === ']') depth--
      else if (char === ',') isNameNext = isInObject && depth === 1
    }
    if (name === undefined) return out + piece.slice(from)
    name += piece.slice(from)
    return out
  }

  return { push, end: () => name ?? '' }
}

/** A name in its quotes; one that cannot be read stays as it is. */
const restored = (quoted: string, sent: SentArguments): string => {
  const name = parseJson(quoted)
  return typeof name === 'string' && Object.hasOwn(sent, name) ? JSON.stringify(sent[name]) : quoted
}
