// JSON schemas in the narrow dialect of strict tools and structured output.

import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { names } from '../object-schema.ts'

const KEPT = new Set(['type', 'enum', 'const', 'title', 'description', 'default', '$ref', 'format', 'pattern'])
const FORMATS = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'])

/** What no pattern may have there: assertions of what stands around, word boundaries, back references. */
const BEYOND_PATTERNS = /\(\?<?[=!]|\\[bBk1-9]/

/** What is left, for the strict schemas of a request together, of what the provider takes. */
export type StrictRoom = { optional: number; unions: number }

/** The provider's limits of properties that may be absent, and of places that hold one of several types. */
export const strictRoom = (): StrictRoom => ({ optional: 24, unions: 16 })

/**
 * A schema in the dialect of constrained decoding: closed objects only; limits the provider cannot hold the model to
 * are moved into descriptions. Undefined where the schema cannot be said so: open objects, tuples, recursion, more
 * choices than `room` has; of what it is given one that can be said takes its part.
 */
export const strictSchema = (schema: JsonObject, room: StrictRoom): JsonObject | undefined => {
  try {
    const definitions = definitionsOf(schema)
    if (recursive(definitions)) return undefined
    if (schema.type !== 'object' && !isObject(schema.properties)) return undefined
    const said = narrow(schema)
    const { optional, unions } = choicesIn(said)
    if (optional > room.optional || unions > room.unions) return undefined
    room.optional -= optional
    room.unions -= unions
    return said
  } catch (error) {
    if (error instanceof Inexpressible) return undefined
    throw error
  }
}

class Inexpressible extends Error {}

const choicesIn = (schema: Json | undefined): StrictRoom => {
  if (!isObject(schema)) return { optional: 0, unions: 0 }
  const { type, properties, items, $defs, definitions } = schema
  const alternatives = [schema.anyOf, schema.allOf].flatMap((list) => (Array.isArray(list) ? list : []))
  const named = [properties, $defs, definitions].flatMap((group) => (isObject(group) ? Object.values(group) : []))
  const required = new Set(names(schema.required))
  const absent = isObject(properties) ? Object.keys(properties).filter((name) => !required.has(name)).length : 0
  const own = { optional: absent, unions: Array.isArray(schema.anyOf) || Array.isArray(type) ? 1 : 0 }
  return [...alternatives, ...named, items]
    .map(choicesIn)
    .reduce((all, one) => ({ optional: all.optional + one.optional, unions: all.unions + one.unions }), own)
}

const narrow = (schema: JsonObject): JsonObject => {
  const out: JsonObject = {}
  const notes: string[] = []
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined || key === 'additionalProperties' || key === 'required' || key === '$schema') continue
    if (key === 'properties') out[key] = mapSchemas(value)
    else if (key === '$defs' || key === 'definitions') out[key] = mapSchemas(value)
    else if (key === 'prefixItems' || (key === 'items' && Array.isArray(value))) throw new Inexpressible()
    else if (key === 'items') out[key] = narrowed(value)
    else if (key === 'allOf' && Array.isArray(value) && value.some(refers)) {
      // A lone reference is written so to have words beside it.
      if (value.length > 1 || schema.$ref !== undefined || schema.properties !== undefined) throw new Inexpressible()
      for (const [name, said] of Object.entries(narrowed(value[0] ?? {}) ?? {})) out[name] ??= said
    } else if (key === 'anyOf' || key === 'oneOf' || key === 'allOf') {
      if (key === 'oneOf' && schema.anyOf !== undefined) throw new Inexpressible()
      out[key === 'oneOf' ? 'anyOf' : key] = Array.isArray(value) ? value.map(narrowed) : value
    } else if (key === 'patternProperties' && isObject(value) && Object.keys(value).length > 0)
      throw new Inexpressible()
    else if (key === 'minItems' && (value === 0 || value === 1)) out[key] = value
    else if (key === 'format' && !FORMATS.has(String(value))) notes.push(`format: ${JSON.stringify(value)}`)
    else if (key === 'pattern' && BEYOND_PATTERNS.test(String(value))) notes.push(`pattern: ${JSON.stringify(value)}`)
    else if (key === '$ref' && value === '#') throw new Inexpressible()
    else if (KEPT.has(key)) out[key] = value
    else notes.push(`${key}: ${JSON.stringify(value)}`)
  }
  const mayBe = Array.isArray(schema.type) ? schema.type : [schema.type]
  if (mayBe.includes('object') || isObject(schema.properties)) {
    const extra = schema.additionalProperties
    const open = extra === true || isObject(extra) || (extra === undefined && !isObject(schema.properties))
    if (open) throw new Inexpressible()
    out.type = schema.type ?? 'object'
    out.additionalProperties = false
    const required = names(schema.required)
    if (required.length > 0) out.required = required
  }
  if (notes.length > 0) {
    const description = typeof out.description === 'string' && out.description !== '' ? [out.description] : []
    out.description = [...description, `{${notes.join(', ')}}`].join('\n\n')
  }
  return out
}

const refers = (value: Json): boolean => isObject(value) && value.$ref !== undefined

const narrowed = (value: Json): Json => (isObject(value) ? narrow(value) : value)

const mapSchemas = (value: Json): Json =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, schema]) => [name, schema === undefined ? schema : narrowed(schema)]),
      )
    : value

const definitionsOf = (schema: JsonObject): Map<string, Set<string>> => {
  const graph = new Map<string, Set<string>>()
  for (const key of ['$defs', 'definitions']) {
    const list = schema[key]
    if (!isObject(list)) continue
    for (const [name, value] of Object.entries(list)) graph.set(`#/${key}/${name}`, referencesIn(value))
  }
  return graph
}

const referencesIn = (value: Json | undefined, found = new Set<string>()): Set<string> => {
  if (Array.isArray(value)) for (const item of value) referencesIn(item, found)
  else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      if (key === '$ref' && typeof member === 'string') found.add(member)
      else referencesIn(member, found)
    }
  }
  return found
}

const recursive = (graph: Map<string, Set<string>>): boolean => {
  const done = new Set<string>()
  const trail = new Set<string>()
  const visit = (name: string): boolean => {
    if (trail.has(name)) return true
    if (done.has(name)) return false
    trail.add(name)
    const returns = [...(graph.get(name) ?? [])].some(visit)
    trail.delete(name)
    done.add(name)
    return returns
  }
  return [...graph.keys()].some(visit)
}
