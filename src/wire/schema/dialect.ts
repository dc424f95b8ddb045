// Converts tools' schemas from older dialects of JSON Schema, and with members left null, to draft 2020-12. Vendors check
// against that draft, and refuse the whole request for a keyword of another.

import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { isExactNumber } from '../../lib/json-exact.ts'

const TYPES = new Set<unknown>(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

/** The members that contain schemas: by name, in a list, or a single one. */
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

type Check = (value: Json) => boolean
const isText: Check = (value) => typeof value === 'string'
const isFlag: Check = (value) => typeof value === 'boolean'
const isCount: Check = (value) => isExactNumber(value) && /^\d+$/.test(JSON.stringify(value))

const all = (names: string[], check: Check): [string, Check][] => names.map((name) => [name, check])

/** What the draft asks of members that hold no schemas. */
const KINDS: ReadonlyMap<string, Check> = new Map([
  ...all(['$ref', '$schema', '$id', 'title', 'description', 'pattern', 'format'], isText),
  ...all(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'], isExactNumber),
  ...all(['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'], isCount),
  ...all(['uniqueItems', 'deprecated', 'readOnly', 'writeOnly'], isFlag),
  ...all(['enum', 'examples'], Array.isArray),
  ['multipleOf', (value) => isExactNumber(value) && Number(JSON.stringify(value)) > 0],
])

/**
 * The schema in draft 2020-12 with the same meaning: tuples under `prefixItems`, exclusive limits as numbers. Unknown types
 * and members of the wrong kind are left out, and what stands for a schema and is none allows anything. Every array gets
 * `items`, which vendor_b requires. Returns the same object where nothing changes, as for most schemas.
 */
export const toDraft2020 = (schema: JsonObject): JsonObject => {
  let out = mapMembers(schema, convertMember)
  const own = (): JsonObject => {
    if (out === schema) out = { ...schema }
    return out
  }
  if (Array.isArray(schema.items)) {
    const { items: _, additionalItems, ...rest } = out
    out = schema.items.length === 0 ? rest : { ...rest, prefixItems: schema.items.map(convert) }
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

/** Maps an object's members, leaving out those mapped to undefined. Returns the same object where nothing changes. */
export const mapMembers = (object: JsonObject, map: (name: string, value: Json) => Json | undefined): JsonObject => {
  let out = object
  for (const name in object) {
    const value = object[name]
    if (value === undefined) continue
    const mapped = map(name, value)
    if (mapped === value) continue
    if (out === object) out = { ...object }
    if (mapped === undefined) delete out[name]
    else out[name] = mapped
  }
  return out
}

const LIMITS = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const

const isSchema = (value: Json): boolean => isObject(value) || typeof value === 'boolean'

const convert = (value: Json): Json => (isObject(value) ? toDraft2020(value) : isSchema(value) ? value : {})

/** Maps the schemas that a schema's member holds; a member of another kind stays. */
export const mapWithin = (name: string, value: Json, map: (schema: JsonObject) => JsonObject): Json =>
  mapPlaces(name, value, (one) => (isObject(one) ? map(one) : one))

/** Maps what a schema's member holds where schemas stand. */
const mapPlaces = (name: string, value: Json, map: (place: Json) => Json): Json => {
  if (SINGLE.has(name)) return map(value)
  if (LISTS.has(name) && Array.isArray(value)) return mapAll(value, map)
  if (BY_NAME.has(name) && isObject(value)) return mapMembers(value, (_, one) => map(one))
  return value
}

const convertMember = (name: string, value: Json): Json | undefined => {
  if (value === null && !LITERAL.has(name)) return undefined
  if (LISTS.has(name) && !(Array.isArray(value) && value.length > 0)) return undefined
  if (BY_NAME.has(name) && !isObject(value)) return undefined
  if (SINGLE.has(name) && !isSchema(value)) return undefined
  switch (name) {
    case 'type':
      // A list with an unknown type is left out as a whole: without that type it would allow less than was meant.
      if (Array.isArray(value))
        return value.length > 0 && value.every((one) => TYPES.has(one)) ? distinct(value) : undefined
      return TYPES.has(value) ? value : undefined
    case 'required':
      return Array.isArray(value) ? distinct(value) : undefined
    // What vendor_b would encrypt of a call. Some servers refuse it, and some models write nothing there.
    case 'encrypted':
      return value === true ? undefined : value
    default:
      return KINDS.get(name)?.(value) === false ? undefined : mapPlaces(name, value, convert)
  }
}

/** Each is mapped once: twice per level would take exponential time for nested alternatives. */
const mapAll = (schemas: Json[], map: (schema: Json) => Json): Json[] => {
  const mapped = schemas.map(map)
  return mapped.every((one, at) => one === schemas[at]) ? schemas : mapped
}

const distinct = (names: Json[]): Json[] => {
  const known = new Set(names.filter((name) => typeof name === 'string'))
  return known.size === names.length ? names : [...known]
}
