// What is wrong with a configuration, in sentences that say where, what was found and what is allowed.

import { type TObject, type TRecord, type TSchema, TypeGuard } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { allowedHere } from './schema.ts'

/** `source` is the file, flag or environment variable; `path` the member inside the file, '' for the whole. */
export type Problem = { source: string; path: string; message: string }

export type Report = (path: string, message: string) => void

/** One line: `sluice.yaml: listen.port: found "x", allowed: …`. */
export const problemLine = ({ source, path, message }: Problem): string =>
  path === '' ? `${source}: ${message}` : `${source}: ${path}: ${message}`

/** `models` + `vendorB-5.5` → `models["vendorB-5.5"]`. */
export const memberPath = (parent: string, name: string | number): string => {
  if (typeof name === 'number') return `${parent}[${name}]`
  if (!/^[\w-]+$/.test(name)) return `${parent}[${JSON.stringify(name)}]`
  return parent === '' ? name : `${parent}.${name}`
}

/** How a value is named in a message: kinds for what may hold a secret, the value itself for the rest. */
export const describe = (value: unknown, secret = false): string => {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  if (secret) return typeof value === 'string' ? (value === '' ? 'an empty text' : 'a text') : `a ${typeof value}`
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

export const mismatch = (value: unknown, allowed: string, secret = false): string =>
  `found ${describe(value, secret)}, allowed: ${allowed}`

/**
 * Reports everything in `value` that `schema` does not allow, unknown members with the nearest known name. An empty
 * member where a mapping or a list belongs counts as left out.
 */
export const checkShape = (schema: TSchema, value: unknown, report: Report, path = ''): void => {
  const mapping = mappingOf(schema, value)
  if (mapping) checkMapping(mapping.schema, mapping.value, report, path)
  else if (TypeGuard.IsArray(schema) && Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0)) report(path, `found an empty list, allowed: ${allowedHere(schema)}`)
    for (const [index, item] of value.entries()) checkShape(schema.items, item, report, memberPath(path, index))
  } else if (!Value.Check(schema, value)) {
    report(path, mismatch(value, allowedHere(schema), schema.secret === true || holdsMore(schema)))
  }
}

/** The schema among alternatives that is for mappings, where the value is one. */
const mappingOf = (schema: TSchema, value: unknown) => {
  const own = TypeGuard.IsUnion(schema) ? schema.anyOf.find((part) => TypeGuard.IsObject(part)) : schema
  return isMapping(value) && (TypeGuard.IsObject(own) || TypeGuard.IsRecord(own)) ? { schema: own, value } : undefined
}

const checkMapping = (schema: TObject | TRecord, value: Record<string, unknown>, report: Report, path: string) => {
  const everyMember = TypeGuard.IsRecord(schema) ? Object.values(schema.patternProperties)[0] : undefined
  const properties: Record<string, TSchema> = TypeGuard.IsObject(schema) ? schema.properties : {}
  for (const [name, member] of Object.entries(value)) {
    const known = everyMember ?? (Object.hasOwn(properties, name) ? properties[name] : undefined)
    const at = memberPath(path, name)
    if (!known) report(at, unknownMember(name, Object.keys(properties)))
    else if (member !== null || !holdsMore(known)) checkShape(known, member, report, at)
  }
  for (const name of schema.required ?? []) {
    const member = properties[name]
    if (member && !Object.hasOwn(value, name)) report(memberPath(path, name), mismatch(undefined, allowedHere(member)))
  }
}

const holdsMore = (schema: TSchema): boolean =>
  TypeGuard.IsObject(schema) || TypeGuard.IsRecord(schema) || TypeGuard.IsArray(schema)

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const unknownMember = (name: string, known: string[]): string => {
  const near = nearest(name, known)
  return near === undefined
    ? `unknown member, allowed: ${known.join(', ')}`
    : `unknown member, did you mean "${near}"? Allowed: ${known.join(', ')}`
}

/** The known name a misspelt one was meant to be, if one is near enough. */
export const nearest = (name: string, known: Iterable<string>): string | undefined => {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

const editDistance = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const change = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(change, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    previous = row
  }
  return previous[b.length] ?? 0
}
