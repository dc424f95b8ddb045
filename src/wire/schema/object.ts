// JSON schemas with an object at the root, as every vendor requires for a tool's arguments.

import { asList, asObject, asObjects, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { toDraft2020 } from './dialect.ts'
import { LASTING, resolved, withDefinitions } from './references.ts'

const COMBINATORS = ['anyOf', 'oneOf', 'allOf'] as const

/**
 * The schema in the dialect of 2020-12, with an object at its root and references to definitions alone. Those of the root
 * are resolved. Vendors refuse `not` and combinators at the root. `not` is left out; the properties of all alternatives are
 * merged, and required only where every alternative requires them. `drop` is called with each keyword so removed. A tool
 * without a schema takes no arguments.
 */
export const objectRoot = (given: JsonObject | undefined, drop: (member: string) => void): JsonObject => {
  if (given === undefined) return { type: 'object', properties: {}, additionalProperties: false }
  if (!Object.isFrozen(given)) return rootOf(given, drop)
  let known = ROOTS.get(given)
  if (known === undefined) {
    const removed: string[] = []
    known = { root: Object.freeze(rootOf(given, (member) => removed.push(member))), removed }
    ROOTS.set(given, known)
  }
  for (const member of known.removed) drop(member)
  return known.root
}

/** Of schemas that many requests share, which are frozen: an agent has the same tools with every turn. */
const ROOTS = new WeakMap<JsonObject, { root: JsonObject; removed: readonly string[] }>()

const rootOf = (given: JsonObject, drop: (member: string) => void): JsonObject => {
  const schema = withDefinitions(toDraft2020(given), given)
  const followed = follow(schema, schema)
  const { not, ...rest } = merged(followed, schema)
  if (not !== undefined) drop('not')
  for (const combinator of COMBINATORS) if (followed[combinator] !== undefined) drop(combinator)
  const root: JsonObject = { ...rest, type: 'object' }
  if (followed.type !== 'object' && Array.isArray(root.enum)) delete root.enum
  if (root.properties !== undefined && !isObject(root.properties)) delete root.properties
  if (root.required !== undefined) {
    const required: string[] = names(root.required)
    if (required.length === 0 && !Array.isArray(root.required)) delete root.required
    else root.required = required
  }
  return root
}

/** Alternatives within alternatives beyond this depth are left out. */
const MOST_DEPTH = 8

/**
 * The schema with the properties of all its alternatives, and of theirs, in place of them; the same object where it has none.
 * `known`: what has been merged, or nothing yet for what is within itself.
 */
const merged = (
  schema: JsonObject,
  document: JsonObject,
  known = new Map<JsonObject, JsonObject>(),
  depth = 0,
): JsonObject => {
  if (COMBINATORS.every((combinator) => schema[combinator] === undefined)) return schema
  const { anyOf: _, oneOf: __, allOf: ___, ...root } = schema
  const branchOf = (one: JsonObject): JsonObject => {
    const before = known.get(one)
    if (before !== undefined) return before
    known.set(one, {})
    const branch = merged(follow(one, document), document, known, depth + 1)
    known.set(one, branch)
    return branch
  }
  for (const combinator of COMBINATORS) {
    const branches = depth < MOST_DEPTH ? asObjects(schema[combinator]).map(branchOf) : []
    if (branches.length === 0) continue
    const properties = gathered(branches, combinator === 'allOf' ? 'allOf' : 'anyOf')
    root.properties = { ...properties, ...asObject(root.properties) }
    const required: string[] = [...new Set([...names(root.required), ...demanded(branches, combinator)])]
    if (required.length > 0) root.required = required
  }
  return root
}

/** The properties that all branches require; for `allOf`, those that any branch requires. */
const demanded = (branches: readonly JsonObject[], combinator: (typeof COMBINATORS)[number]): string[] => {
  const lists = different(branches, 'required').map(names)
  if (combinator === 'allOf') return lists.flat()
  return [...lists.map((list) => new Set(list)).reduce((all, list) => all.intersection(list))]
}

/** One member of every branch, without duplicates of the same object. */
const different = (branches: readonly JsonObject[], member: string): (Json | undefined)[] => [
  ...new Set(branches.map((branch) => branch[member])),
]

const gathered = (branches: readonly JsonObject[], combinator: 'allOf' | 'anyOf'): JsonObject => {
  const ways = new Map<string, Map<string, Json>>()
  for (const properties of different(branches, 'properties')) {
    if (!isObject(properties)) continue
    for (const [name, schema] of Object.entries(properties)) {
      if (schema === undefined) continue
      const known = ways.get(name)
      if (known === undefined) ways.set(name, new Map([[JSON.stringify(schema), schema]]))
      else known.set(JSON.stringify(schema), schema)
    }
  }
  return Object.fromEntries(
    [...ways].map(([name, known]) => {
      const [first = {}, ...others] = known.values()
      return [name, others.length === 0 ? first : { [combinator]: [first, ...others] }]
    }),
  )
}

/** Replaces a reference into the document by its target; other members of the schema stay. */
const follow = (schema: JsonObject, document: JsonObject): JsonObject => {
  let at = schema
  for (let depth = 0; depth < 8; depth++) {
    const { $ref: reference, ...own } = at
    const found = typeof reference === 'string' ? resolved(reference, document) : undefined
    if (found === undefined) return at
    at = { ...found, ...own }
  }
  return at
}

/** The schema with keywords that a vendor does not take told in its description. */
export const withNotes = (schema: JsonObject, keywords: JsonObject): JsonObject => {
  const told = Object.entries(keywords).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  if (told.length === 0) return schema
  const said = typeof schema.description === 'string' && schema.description !== '' ? [schema.description] : []
  return { ...schema, description: [...said, `{${told.join(', ')}}`].join('\n\n') }
}

export const names = (value: Json | undefined): string[] => asList(value).filter((name) => typeof name === 'string')

/** The keywords that vendor_b accepts in strict schemas: it refuses a request for any other. */
const STRICT = new Set([
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'anyOf', 'enum', 'const', 'default'],
  ...['$ref', '$defs', 'definitions', '$schema', '$id', 'title', 'description', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minItems', 'maxItems', 'minLength', 'maxLength'],
])
const FORMATS = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'])

/**
 * Whether vendor_b can enforce the schema (`strict: true`): every object is closed and requires all its properties, every
 * array has one schema for its items, every schema has a type, and only supported keywords are used. Without `strict` the
 * vendor treats a schema as advice.
 */
export const isClosed = (schema: JsonObject | undefined): boolean => isStrict(objectRoot(schema, () => {}))

const isStrict = (schema: Json): boolean => {
  if (!isObject(schema)) return false
  const { type, properties, $ref: reference, $defs, definitions, items, anyOf, format } = schema
  if (reference !== undefined)
    return typeof reference === 'string' && LASTING.test(reference) && Object.keys(schema).length === 1
  for (const name in schema) if (schema[name] !== undefined && !STRICT.has(name)) return false
  if (type === undefined && anyOf === undefined) return false
  if (format !== undefined && !FORMATS.has(String(format))) return false
  const types = Array.isArray(type) ? type : [type]
  if (types.includes('object') || properties !== undefined) {
    const required = new Set(names(schema.required))
    if (!isObject(properties) || schema.additionalProperties !== false) return false
    if (!Object.keys(properties).every((name) => required.has(name))) return false
  }
  if (types.includes('array') && !isObject(items)) return false
  const named = [properties, $defs, definitions].flatMap((group) => (isObject(group) ? Object.values(group) : []))
  const listed = asList(anyOf)
  return [...named, ...listed, ...(items === undefined ? [] : [items])].every((inner = null) => isStrict(inner))
}
