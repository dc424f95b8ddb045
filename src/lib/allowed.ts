// Describes in words what a schema allows: the end of an error's sentence.

import type { TSchema } from '@sinclair/typebox'

/** The words for lists and objects in the reader's format (JSON, YAML), and the separators of alternatives. */
export type Words = { list: string; object: string; between: string; last: string }

/**
 * A schema's own `allowed` comes first; a pattern is described by its description. `null` is not mentioned beside other
 * alternatives.
 */
export const allowedBy = (schema: TSchema, words: Words): string => {
  if (typeof schema.allowed === 'string') return schema.allowed
  if (Array.isArray(schema.anyOf)) return alternatives(schema.anyOf, words)
  if ('const' in schema) return JSON.stringify(schema.const)
  switch (schema.type) {
    case 'null':
      return 'null'
    case 'boolean':
      return 'true or false'
    case 'string':
      return schema.pattern !== undefined && schema.description !== undefined
        ? schema.description
        : sized('a string', 'characters', schema.minLength, schema.maxLength)
    case 'integer':
    case 'number':
      return numeric(schema)
    case 'array':
      return sized(words.list, 'members', schema.minItems, schema.maxItems)
    default:
      return words.object
  }
}

/** What any of several schemas allows, without repetitions and without alternatives that another one includes. */
export const alternatives = (schemas: readonly TSchema[], words: Words): string => {
  const each = new Set(schemas.flatMap(flat).map((part) => allowedBy(part, words)))
  if (each.size > 1) each.delete('null')
  for (const wide of each) each.delete(`${wide} that is not empty`)
  const [last = '', ...before] = [...each].reverse()
  return before.length === 0 ? last : before.reverse().join(words.between) + words.last + last
}

const flat = (schema: TSchema): TSchema[] =>
  Array.isArray(schema.anyOf) && schema.allowed === undefined ? schema.anyOf.flatMap(flat) : [schema]

const numeric = ({ type, minimum, maximum, exclusiveMinimum }: TSchema): string => {
  const noun = type === 'integer' ? 'a whole number' : 'a number'
  if (maximum !== undefined && minimum !== undefined) return `${noun} from ${minimum} to ${maximum}`
  if (exclusiveMinimum !== undefined) {
    return `${noun} above ${exclusiveMinimum}${maximum === undefined ? '' : ` and up to ${maximum}`}`
  }
  return minimum === undefined ? noun : `${noun} of ${minimum} or more`
}

const sized = (noun: string, unit: string, least: number | undefined, most: number | undefined): string => {
  if (most !== undefined) return `${noun} of ${least ?? 0} to ${most} ${unit}`
  if (least === undefined || least === 0) return noun
  return least === 1 ? `${noun} that is not empty` : `${noun} of ${least} ${unit} or more`
}
