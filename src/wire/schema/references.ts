// References within a JSON schema. Rewriting a schema moves its places (a tuple's items, alternatives at the root, arguments
// under other names), and strict schemas may refer to definitions alone.

import { distinct } from '../../ir/distinct.ts'
import { asObject, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { mapMembers, mapWithin, toDraft2020 } from './dialect.ts'

/** A reference that holds wherever the rest is moved: to the whole schema or to one of its definitions. */
export const LASTING = /^#(\/(\$defs|definitions)\/[^/]+)?$/

/** What a reference into the document points to; undefined for nothing, and for the document itself. */
export const resolved = (reference: string, document: JsonObject): JsonObject | undefined => {
  if (!reference.startsWith('#/')) return undefined
  let at: Json | undefined = document
  for (const step of reference.slice(2).split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(at)) at = at[Number(name)]
    else if (isObject(at) && Object.hasOwn(at, name)) at = at[name]
    else return undefined
  }
  return isObject(at) && at !== document ? at : undefined
}

/**
 * The schema with a definition for every other place that it refers to. The same object where there is none. `written`: the
 * schema before it was converted, in which its references point to their places.
 */
export const withDefinitions = (document: JsonObject, written = document): JsonObject => {
  const { $defs, definitions } = document
  const claim = distinct()
  for (const name of Object.keys({ ...asObject($defs), ...asObject(definitions) })) claim(name)
  /** By the reference, the name of the definition and what it defines. */
  const found = new Map<string, [name: string, target: JsonObject]>()
  const lasting = (reference: string): string => {
    if (LASTING.test(reference)) return reference
    const target = resolved(reference, written)
    if (target === undefined) return reference
    const known = found.get(reference)
    const name = known?.[0] ?? claim(reference.slice(2).replace(/[^a-zA-Z0-9]+/g, '_'))
    if (known === undefined) found.set(reference, [name, target])
    return `#/$defs/${name}`
  }
  const redirected = (schema: JsonObject): JsonObject =>
    mapMembers(schema, (name, value) =>
      name === '$ref' && typeof value === 'string' ? lasting(value) : mapWithin(name, value, redirected),
    )
  const root = redirected(document)
  if (found.size === 0) return document
  const added: [string, JsonObject][] = []
  // Grows while it is read: what is defined may refer to further places.
  for (const [name, target] of found.values()) added.push([name, redirected(toDraft2020(target))])
  return { ...root, $defs: { ...asObject(root.$defs), ...Object.fromEntries(added) } }
}
