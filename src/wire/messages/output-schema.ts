// JSON schemas in the subset that the provider takes for strict tools and structured output.

import { asList, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { names, withNotes } from '../schema/object.ts'

const KEPT = new Set(['type', 'enum', 'const', 'title', 'description', 'default', '$ref', 'format', 'pattern'])
const FORMATS = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'])

/** Not allowed in patterns: lookarounds, word boundaries, back references. */
const UNSUPPORTED_PATTERN = /\(\?<?[=!]|\\[bBk1-9]/

/** What is left of the provider's limits, which hold for all strict schemas of a request together. */
export type StrictRoom = { optional: number; unions: number }

/** The provider's limits on optional properties and on unions. */
export const strictRoom = (): StrictRoom => ({ optional: 24, unions: 16 })

/**
 * The schema in that subset: closed objects only, with constraints that the provider cannot enforce moved into
 * descriptions. Undefined for a schema that has open objects, tuples or recursion, or more choices than `room` is left.
 * Otherwise its choices are deducted from `room`.
 */
export const strictSchema = (schema: JsonObject, room: StrictRoom): JsonObject | undefined => {
  try {
    const definitions = definitionsOf(schema)
    if (recursive(definitions)) return undefined
    if (schema.type !== 'object' && !isObject(schema.properties)) return undefined
    const narrowed = narrow(schema)
    const { optional, unions } = choicesIn(narrowed)
    if (optional > room.optional || unions > room.unions) return undefined
    room.optional -= optional
    room.unions -= unions
    return narrowed
  } catch (error) {
    if (error instanceof Unsupported) return undefined
    throw error
  }
}

class Unsupported extends Error {}

const choicesIn = (schema: Json | undefined): StrictRoom => {
  if (!isObject(schema)) return { optional: 0, unions: 0 }
  const { type, properties, items, $defs, definitions } = schema
  const alternatives = [schema.anyOf, schema.allOf].flatMap(asList)
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
  const notes: JsonObject = {}
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined || key === 'additionalProperties' || key === 'required' || key === '$schema') continue
    if (key === 'properties' || key === '$defs' || key === 'definitions') out[key] = mapSchemas(value)
    else if (key === 'prefixItems' || (key === 'items' && Array.isArray(value))) throw new Unsupported()
    else if (key === 'items') out[key] = narrowSchema(value)
    else if (key === 'allOf' && Array.isArray(value) && value.some(refers)) {
      // A single reference is put into `allOf` so that a description can stand beside it.
      if (value.length > 1 || schema.$ref !== undefined || schema.properties !== undefined) throw new Unsupported()
      for (const [name, member] of Object.entries(narrowSchema(value[0] ?? {}) ?? {})) out[name] ??= member
    } else if (key === 'anyOf' || key === 'oneOf' || key === 'allOf') {
      if (key === 'oneOf' && schema.anyOf !== undefined) throw new Unsupported()
      out[key === 'oneOf' ? 'anyOf' : key] = Array.isArray(value) ? value.map(narrowSchema) : value
    } else if (key === 'patternProperties' && isObject(value) && Object.keys(value).length > 0) throw new Unsupported()
    else if (key === 'minItems' && (value === 0 || value === 1)) out[key] = value
    else if (key === 'format' && !FORMATS.has(String(value))) notes.format = value
    else if (key === 'pattern' && UNSUPPORTED_PATTERN.test(String(value))) notes.pattern = value
    else if (key === '$ref' && value === '#') throw new Unsupported()
    else if (KEPT.has(key)) out[key] = value
    else notes[key] = value
  }
  const mayBe = Array.isArray(schema.type) ? schema.type : [schema.type]
  if (mayBe.includes('object') || isObject(schema.properties)) {
    const extra = schema.additionalProperties
    const open = extra === true || isObject(extra) || (extra === undefined && !isObject(schema.properties))
    if (open) throw new Unsupported()
    out.type = schema.type ?? 'object'
    out.additionalProperties = false
    const required = names(schema.required)
    if (required.length > 0) out.required = required
  }
  return withNotes(out, notes)
}

const refers = (value: Json): boolean => isObject(value) && value.$ref !== undefined

const narrowSchema = (value: Json): Json => (isObject(value) ? narrow(value) : value)

const mapSchemas = (value: Json): Json =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, schema]) => [name, schema === undefined ? schema : narrowSchema(schema)]),
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
