// Schemas of tools as clients write them, in older dialects and with members left empty, in the one that vendors check
// them against: a single keyword of another refuses the whole request.

import { isObject, type Json, type JsonObject } from '../ir/json.ts'

const TYPES = new Set<unknown>(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

/** Members that hold schemas by name, in a list, or one. Whatever else a schema holds is no schema. */
const BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
const LISTS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const SINGLE = new Set([
  'items',
  'additionalItems',
  'additionalProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
])
/** Members whose value may be `null`. */
const LITERAL = new Set(['default', 'const'])

/**
 * The schema in the dialect of 2020-12, its meaning unchanged: tuples under `prefixItems`, exclusive limits as numbers;
 * types nobody knows and members of the wrong kind left out. Every array says what it holds, as vendor_b demands. What
 * needs no change, as most do, is the same object.
 */
export const today = (schema: JsonObject): JsonObject => {
  let out = changed(schema, member)
  const own = (): JsonObject => {
    if (out === schema) out = { ...schema }
    return out
  }
  if (Array.isArray(schema.items)) {
    const { items: _, additionalItems, ...rest } = out
    out = schema.items.length === 0 ? rest : { ...rest, prefixItems: schema.items.map(within) }
    if (additionalItems !== undefined) out.items = additionalItems
  }
  for (const [exclusive, limit] of LIMITS) {
    const least = out[limit]
    if (schema[exclusive] !== true || least === undefined) continue
    own()[exclusive] = least
    delete out[limit]
  }
  const holdsMany = out.type === 'array' || (Array.isArray(out.type) && out.type.includes('array'))
  if (holdsMany && out.items === undefined) own().items = {}
  return out
}

/** The object with each member as `say` has it, left out where that is nothing; the same object where all stay. */
const changed = (object: JsonObject, say: (name: string, value: Json) => Json | undefined): JsonObject => {
  let out = object
  for (const name in object) {
    const value = object[name]
    if (value === undefined) continue
    const said = say(name, value)
    if (said === value) continue
    if (out === object) out = { ...object }
    if (said === undefined) delete out[name]
    else out[name] = said
  }
  return out
}

const LIMITS = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const

const within = (value: Json): Json => (isObject(value) ? today(value) : value)

const member = (name: string, value: Json): Json | undefined => {
  if (value === null && !LITERAL.has(name)) return undefined
  if (SINGLE.has(name)) return within(value)
  if (LISTS.has(name)) return Array.isArray(value) && value.length > 0 ? listed(value) : undefined
  if (BY_NAME.has(name)) return isObject(value) ? changed(value, (_, one) => within(one)) : undefined
  switch (name) {
    case 'type':
      // One of a list that nobody knows may be anything: what is left of the list would say less.
      return (Array.isArray(value) ? value : [value]).every((one) => TYPES.has(one)) ? value : undefined
    case 'required':
      return Array.isArray(value) ? distinct(value) : undefined
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return typeof value === 'boolean' ? undefined : value
    case 'examples':
      return Array.isArray(value) ? value : undefined
    default:
      return value
  }
}

/** Each is read once: read twice at every level, alternatives within alternatives would cost without end. */
const listed = (schemas: Json[]): Json[] => {
  const said = schemas.map(within)
  return said.every((one, at) => one === schemas[at]) ? schemas : said
}

const distinct = (names: Json[]): Json[] => {
  const known = new Set(names.filter((name) => typeof name === 'string'))
  return known.size === names.length ? names : [...known]
}
