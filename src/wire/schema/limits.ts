// Limits in schemas, for servers that compile schemas to a grammar: they refuse the whole request for one of them that
// their grammars cannot hold, whichever tool it is of, and do not say which.

import { isObject, type JsonObject } from '../../ir/json.ts'
import type { Quirks } from '../../ir/quirks.ts'
import { mapMembers, mapWithin } from './dialect.ts'
import { withNotes } from './object.ts'

/** What grammars have no counterpart for, and counts that they hold only up to a number. */
const LIMITS = new Set([
  ...['pattern', 'format', 'minLength', 'maxLength', 'minItems', 'maxItems', 'uniqueItems', 'contains'],
  ...['minContains', 'maxContains', 'minProperties', 'maxProperties', 'patternProperties', 'propertyNames'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['multipleOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties'],
])

/** The schema as the server takes it: where its grammars hold no limits, they become a part of the descriptions. */
export const withinGrammar = (schema: JsonObject, { noSchemaLimits }: Quirks): JsonObject =>
  noSchemaLimits === true ? withoutLimits(schema) : schema

/** Whether a schema holds any that a server may be asked without. */
export const holdsLimits = (schema: JsonObject): boolean => withoutLimits(schema) !== schema

const withoutLimits = (schema: JsonObject): JsonObject => {
  const notes: JsonObject = {}
  const mapped = mapMembers(schema, (name, value) => {
    if (!LIMITS.has(name)) return mapWithin(name, value, withoutLimits)
    notes[name] = value
    return undefined
  })
  return withNotes(withoutNoProperties(mapped), notes)
}

/** Of an object that has no properties some servers make a rule that they cannot read themselves. */
const withoutNoProperties = (schema: JsonObject): JsonObject => {
  const { properties, additionalProperties, ...rest } = schema
  const isBare = isObject(properties) && Object.keys(properties).length === 0 && !isObject(additionalProperties)
  return isBare ? rest : schema
}
