// Regular expressions in schemas, as far as vendor_b reads them: it compiles them in another language than the one that
// JSON Schema names, and refuses the whole request for one that it cannot read, in strict schemas and in others.

import { isObject, type JsonObject } from '../ir/json.ts'
import { withNotes } from './object-schema.ts'
import { mapMembers, mapWithin } from './schema-dialect.ts'

/** Every schema within it with patterns that vendor_b reads; the others become a part of its description. */
export const withReadablePatterns = (schema: JsonObject): JsonObject => {
  const mapped = mapMembers(schema, (name, value) => mapWithin(name, value, withReadablePatterns))
  const { pattern, patternProperties, ...rest } = mapped
  const notes: JsonObject = {}
  if (typeof pattern === 'string' && !isReadable(pattern)) notes.pattern = pattern
  else if (pattern !== undefined) rest.pattern = pattern
  const byName = isObject(patternProperties) ? Object.entries(patternProperties) : []
  const read = byName.filter(([name]) => isReadable(name))
  if (read.length > 0) rest.patternProperties = Object.fromEntries(read)
  if (read.length < byName.length) {
    notes.patternProperties = Object.fromEntries(byName.filter(([name]) => !isReadable(name)))
    // It would forbid the properties whose names are now told in words only.
    if (rest.additionalProperties === false) {
      notes.additionalProperties = false
      delete rest.additionalProperties
    }
  }
  return Object.keys(notes).length === 0 ? mapped : withNotes(rest, notes)
}

const ESCAPE = String.raw`\\(?:[^a-zA-Z1-9]|[bBdDfnrsStvwW]|x[\da-fA-F]{2}|u[\da-fA-F]{4})`
/** Without lookarounds, references to groups, names of groups, properties of characters and escapes of one language only. */
const READABLE = new RegExp(
  String.raw`^(?:[^\\[(]|${ESCAPE}|\[(?!\^?\])(?:[^\\\]]|${ESCAPE})+\]|\((?:\?:|(?!\?)))*$`,
  's',
)

export const isReadable = (pattern: string): boolean => READABLE.test(pattern)
