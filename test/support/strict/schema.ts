// How both vendors check the schemas of tools and answers, and strict schemas in particular.

import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'
import { texts } from './table.ts'

const BY_NAME = ['properties', '$defs', 'definitions', 'patternProperties']
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const SINGLE = ['items', 'additionalProperties', 'not']

/** The schema and all schemas within it. */
export const schemas = (schema: Json | undefined): JsonObject[] => {
  if (!isObject(schema)) return []
  const named = BY_NAME.flatMap((name) => (isObject(schema[name]) ? Object.values(schema[name]) : []))
  const listed = LISTS.flatMap((name) => (Array.isArray(schema[name]) ? schema[name] : []))
  const inner = [...named, ...listed, ...SINGLE.map((name) => schema[name])]
  return [schema, ...inner.flatMap(schemas)]
}

const TYPES = new Set<unknown>(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])
const asList = (value: Json | undefined): Json[] => (value === undefined ? [] : Array.isArray(value) ? value : [value])
const has = (schema: JsonObject, ...names: string[]): string[] => names.filter((name) => schema[name] !== undefined)
const propertiesOf = ({ properties }: JsonObject): string[] => (isObject(properties) ? Object.keys(properties) : [])
const isObjects = (schema: JsonObject): boolean => schema.type === 'object' || isObject(schema.properties)

/** JSON Schema 2020-12. */
export const draftFaults = (schema: Json | undefined): string[] =>
  schemas(schema).flatMap((one) => [
    ...asList(one.type).flatMap((type) => (TYPES.has(type) ? [] : [`type ${JSON.stringify(type)}`])),
    ...(Array.isArray(one.items) ? ['items as a list'] : []),
    ...['exclusiveMinimum', 'exclusiveMaximum'].filter(
      (name) => one[name] !== undefined && typeof one[name] !== 'number',
    ),
    ...(one.required !== undefined && new Set(texts(one.required)).size !== asList(one.required).length
      ? ['required']
      : []),
    ...['anyOf', 'oneOf', 'allOf'].filter((name) => one[name] !== undefined && asList(one[name]).length === 0),
    ...(one.properties !== undefined && !isObject(one.properties) ? ['properties'] : []),
  ])

/** Of vendor_a's constrained decoding. */
export const constrainedFaults = (schema: Json | undefined): string[] =>
  schemas(schema).flatMap((one) => [
    ...(isObjects(one) && one.additionalProperties !== false ? ['an open object'] : []),
    ...has(
      one,
      'oneOf',
      'minimum',
      'maximum',
      'multipleOf',
      'minLength',
      'maxLength',
      'maxItems',
      'uniqueItems',
      'not',
    ),
    ...has(one, 'exclusiveMinimum', 'exclusiveMaximum', 'prefixItems', 'patternProperties', 'contains'),
  ])

const STRICT = new Set([
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'anyOf', 'enum', 'const', 'default', '$ref'],
  ...['$defs', 'definitions', '$schema', '$id', 'title', 'description', 'pattern', 'format', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems', 'minLength', 'maxLength'],
])

/** Of vendor_b's strict schemas. */
export const strictFaults = (schema: Json | undefined): string[] =>
  schemas(schema).flatMap((one) => [
    ...(isObjects(one) && one.additionalProperties !== false ? ['an open object'] : []),
    ...propertiesOf(one).flatMap((name) => (texts(one.required).includes(name) ? [] : [`${name} is not required`])),
    ...Object.keys(one).filter((name) => !STRICT.has(name)),
    ...(has(one, 'type', 'anyOf', '$ref').length === 0 ? ['no type'] : []),
  ])

/** Of vendor_b's functions. */
export const parameterFaults = (schema: Json | undefined, strict: boolean): string[] => {
  if (schema === undefined || schema === null) return []
  if (!isObject(schema)) return ['no object']
  return [
    ...(schema.type === 'object' && isObject(schema.properties) ? [] : ['no object with properties']),
    ...has(schema, 'oneOf', 'anyOf', 'allOf', 'enum', 'not'),
    ...schemas(schema).flatMap((one) =>
      asList(one.type).includes('array') && one.items === undefined ? ['no items'] : [],
    ),
    ...draftFaults(schema),
    ...(strict ? strictFaults(schema) : []),
  ]
}
