// Describing what a schema allows.

import { expect, test } from 'bun:test'
import { type TSchema, Type } from '@sinclair/typebox'
import { allowedBy, type Words } from '../../src/lib/allowed.ts'

const words: Words = { list: 'an array', object: 'an object', between: ', ', last: ' or ' }

const rows: [TSchema, string][] = [
  [Type.String(), 'a string'],
  [Type.String({ minLength: 1 }), 'a string that is not empty'],
  [Type.String({ minLength: 12, maxLength: 200 }), 'a string of 12 to 200 characters'],
  [Type.String({ maxLength: 40 }), 'a string of 0 to 40 characters'],
  [Type.String({ minLength: 12 }), 'a string of 12 characters or more'],
  [Type.String({ pattern: '^x', description: 'something with an x' }), 'something with an x'],
  [Type.String({ pattern: '^x', description: 'What it is for', allowed: 'x and more' }), 'x and more'],
  [Type.Integer(), 'a whole number'],
  [Type.Integer({ minimum: 1 }), 'a whole number of 1 or more'],
  [Type.Number({ minimum: 0, maximum: 2 }), 'a number from 0 to 2'],
  [Type.Number({ exclusiveMinimum: 0 }), 'a number above 0'],
  [Type.Number({ exclusiveMinimum: 0, maximum: 1e9 }), 'a number above 0 and up to 1000000000'],
  [Type.Boolean(), 'true or false'],
  [Type.Null(), 'null'],
  [Type.Array(Type.String()), 'an array'],
  [Type.Array(Type.String(), { minItems: 1, maxItems: 3 }), 'an array of 1 to 3 members'],
  [Type.Object({}), 'an object'],
  [Type.Union([Type.String(), Type.Null()]), 'a string'],
  [Type.Union([Type.String(), Type.Array(Type.String()), Type.Null()]), 'a string or an array'],
  [Type.Union([Type.Array(Type.String()), Type.Array(Type.Number(), { minItems: 1 })]), 'an array'],
  [Type.Union([Type.Literal('a'), Type.Union([Type.Literal('b'), Type.Literal('c')])]), '"a", "b" or "c"'],
  [Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })]), 'an object'],
]
test.each(rows)('%j allows %s', (schema, said) => {
  expect(allowedBy(schema, words)).toBe(said)
})
