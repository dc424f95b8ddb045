// Checks the file against its schema: reports what does not fit, and gives members that were left empty a meaning.

import { type TObject, type TRecord, type TSchema, TypeGuard } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { nearest } from '../lib/nearest.ts'
import { memberPath, mismatch, type Report } from './problem.ts'
import { allowedHere } from './schema.ts'

/**
 * Reports everything in `value` that `schema` does not allow, unknown members with the nearest known name. An empty
 * member where a mapping or a list belongs is allowed: see `withoutNulls`.
 */
export const checkShape = (schema: TSchema, value: unknown, report: Report, path = ''): void => {
  const mapping = mappingOf(schema, value)
  if (mapping) checkMapping(mapping.schema, mapping.value, report, path)
  else if (TypeGuard.IsArray(schema) && Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0)) report(path, `found an empty list, allowed: ${allowedHere(schema)}`)
    for (const [index, item] of value.entries()) checkShape(schema.items, item, report, memberPath(path, index))
  } else if (!Value.Check(schema, value)) {
    report(
      path,
      mismatch(value, allowedHere(schema), schema.secret === true || holdsMore(schema)) + meant(schema, value),
    )
  }
}

/** The word among several that a misspelt one was meant to be, or the list that one alone belongs in, as the end of a sentence. */
const meant = (schema: TSchema, value: unknown): string => {
  if (holdsMore(schema) && typeof value === 'string' && /^\w+:[a-z]/i.test(value) && !value.includes('://'))
    return '; a colon needs a blank behind it'
  if (TypeGuard.IsArray(schema) && isWord(value) && Value.Check(schema.items, value) && schema.items.secret !== true)
    return `; did you mean [${value}]?`
  if (!TypeGuard.IsUnion(schema) || typeof value !== 'string') return ''
  const words = schema.anyOf.flatMap((part) =>
    TypeGuard.IsLiteral(part) && typeof part.const === 'string' ? [part.const] : [],
  )
  const near = nearest(value, words)
  return near === undefined ? '' : `; did you mean "${near}"?`
}

const isWord = (value: unknown): value is string => typeof value === 'string' && /^[\w.-]{1,60}$/.test(value)

const checkMapping = (schema: TObject | TRecord, value: Record<string, unknown>, report: Report, path: string) => {
  for (const [name, member] of Object.entries(value)) {
    const known = memberOf(schema, name)
    const at = memberPath(path, name)
    if (!known) report(at, unknownMember(name, member, schema))
    else if (member !== null || !holdsMore(known)) checkShape(known, member, report, at)
  }
  for (const name of schema.required ?? []) {
    const member = memberOf(schema, name)
    if (member && !Object.hasOwn(value, name)) report(memberPath(path, name), mismatch(undefined, allowedHere(member)))
  }
}

/**
 * What of a value `checkShape` has nothing to say about: the faulty is left out, so that the rest can be read all the same;
 * undefined where nothing is left. Nulls (`aliases:` and nothing after it) are empty members: one whose name is the
 * operator's own, a model for instance, is an empty mapping or list; any other counts as left out, unless it may be null.
 */
export const soundPart = (schema: TSchema, value: unknown): unknown => {
  if (TypeGuard.IsArray(schema) && Array.isArray(value)) {
    const items = value.map((item) => soundPart(schema.items, item)).filter((item) => item !== undefined)
    return items.length < (schema.minItems ?? 0) ? undefined : items
  }
  const mapping = mappingOf(schema, value)
  if (mapping === undefined) return Value.Check(schema, value) ? value : undefined
  const members = Object.entries(mapping.value).flatMap(([name, member]): [string, unknown][] => {
    const own = memberOf(mapping.schema, name)
    if (own === undefined) return []
    const sound = member === null && holdsMore(own) ? undefined : soundPart(own, member)
    if (sound !== undefined) return [[name, sound]]
    // A faulty entry is there by its name: others may refer to it.
    return TypeGuard.IsRecord(mapping.schema) && holdsMore(own) ? [[name, TypeGuard.IsArray(own) ? [] : {}]] : []
  })
  const found = Object.fromEntries(members)
  const required: readonly string[] = mapping.schema.required ?? []
  return required.every((name) => Object.hasOwn(found, name)) ? found : undefined
}

/** The schema among alternatives that is for mappings, where the value is one. */
const mappingOf = (schema: TSchema, value: unknown) => {
  const own = TypeGuard.IsUnion(schema) ? schema.anyOf.find((part) => TypeGuard.IsObject(part)) : schema
  return isMapping(value) && (TypeGuard.IsObject(own) || TypeGuard.IsRecord(own)) ? { schema: own, value } : undefined
}

const memberOf = (schema: TObject | TRecord, name: string): TSchema | undefined => {
  if (TypeGuard.IsRecord(schema)) return Object.values(schema.patternProperties)[0]
  return Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
}

const holdsMore = (schema: TSchema): boolean =>
  TypeGuard.IsObject(schema) || TypeGuard.IsRecord(schema) || TypeGuard.IsArray(schema)

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const unknownMember = (name: string, member: unknown, schema: TObject | TRecord): string => {
  const known = Object.keys(schema.properties ?? {})
  const [other] = membersOf(schema).find(([, { also = [] }]) => also.includes(name)) ?? []
  const near =
    other ??
    nearest(name, known) ??
    below(name, schema) ??
    below(inSnakeCase(name), schema) ??
    within(name, member, schema)
  return near === undefined
    ? `unknown member, allowed: ${known.join(', ')}`
    : `unknown member, did you mean "${near}"? Allowed: ${known.join(', ')}`
}

/**
 * Where within the members a member of that name stands, if it is one place: it was written too far out, or both names as one.
 */
const below = (name: string, schema: TSchema): string | undefined => {
  const [found, ...others] = membersOf(schema).flatMap(([member, inner]) => {
    const isList = TypeGuard.IsArray(inner)
    const own: TSchema = isList ? inner.items : inner
    return membersOf(own).flatMap(([each, { also = [] }]) =>
      [each, `${member}_${each}`, ...also].includes(name) ? [`${member}${isList ? '[0]' : ''}.${each}`] : [],
    )
  })
  return others.length === 0 ? found : undefined
}

/** `baseUrl`, `base-url` → `base_url`. */
const inSnakeCase = (name: string): string => name.replaceAll(/-|(?=[A-Z])/g, '_').toLowerCase()

/** Where what is written belongs, if one member has entries by name and takes it as one: it was written too far out. */
const within = (name: string, value: unknown, schema: TSchema): string | undefined => {
  const [found, ...others] = membersOf(schema).filter(([, inner]) => {
    const entry = TypeGuard.IsRecord(inner) ? memberOf(inner, name) : undefined
    return isMapping(value) && entry !== undefined && Value.Check(entry, value)
  })
  return others.length === 0 && found !== undefined ? memberPath(found[0], name) : undefined
}

const membersOf = (schema: TSchema): [string, TSchema][] => {
  const own = TypeGuard.IsUnion(schema) ? schema.anyOf.find((part) => TypeGuard.IsObject(part)) : schema
  return TypeGuard.IsObject(own) ? Object.entries(own.properties) : []
}
