// Regular expressions in schemas, as far as vendor_b reads them: it compiles them in another language than the one that
// JSON Schema names, and refuses the whole request for one that it cannot read, in strict schemas and in others.

import { isObject, type JsonObject } from '../../ir/json.ts'
import { mapMembers, mapWithin } from './dialect.ts'
import { withNotes } from './object.ts'

/** Every schema within it with patterns that vendor_b reads; the others become a part of its description. */
export const withReadablePatterns = (schema: JsonObject): JsonObject => {
  if (!Object.isFrozen(schema)) return readable(schema)
  const known = READ.get(schema)
  if (known !== undefined) return known
  const made = readable(schema)
  READ.set(schema, made)
  return made
}

/** Of schemas that many requests share. */
const READ = new WeakMap<JsonObject, JsonObject>()

const readable = (schema: JsonObject): JsonObject => {
  const notes: JsonObject = {}
  const mapped = mapMembers(schema, (name, value) => {
    if (name === 'pattern' && typeof value === 'string' && !isReadable(value)) {
      notes.pattern = value
      return undefined
    }
    if (name !== 'patternProperties' || !isObject(value)) return mapWithin(name, value, withReadablePatterns)
    // Told as they are: quoted anew at each level, what nests would grow without bound.
    const told: JsonObject = {}
    const read = mapMembers(value, (property, one) => {
      if (isReadable(property)) return isObject(one) ? withReadablePatterns(one) : one
      told[property] = one
      return undefined
    })
    if (Object.keys(told).length === 0) return read
    notes.patternProperties = told
    return Object.keys(read).length === 0 ? undefined : read
  })
  if (Object.keys(notes).length === 0) return mapped
  const { additionalProperties, ...rest } = mapped
  // It would forbid the properties whose names are now told in words only.
  if (notes.patternProperties === undefined || additionalProperties !== false) return withNotes(mapped, notes)
  return withNotes(rest, { ...notes, additionalProperties })
}

const ESCAPE = String.raw`\\(?:[^a-zA-Z1-9]|[bBdDfnrsStvwW]|x[\da-fA-F]{2}|u[\da-fA-F]{4})`
/** Without lookarounds, references to groups, names of groups, properties of characters and escapes of one language only. */
const READABLE = new RegExp(
  String.raw`^(?:[^\\[(]|${ESCAPE}|\[(?!\^?\])(?:[^\\\]]|${ESCAPE})+\]|\((?:\?:|(?!\?)))*$`,
  's',
)

export const isReadable = (pattern: string): boolean => READABLE.test(pattern)
