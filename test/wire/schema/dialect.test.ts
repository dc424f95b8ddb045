// Converting schemas of older dialects to draft 2020-12 without changing their meaning.

import { expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/ir/json.ts'
import { parseExact } from '../../../src/lib/json-exact.ts'
import { toDraft2020 } from '../../../src/wire/schema/dialect.ts'

test.each<[string, JsonObject, JsonObject]>([
  ['an array of anything', { type: 'array' }, { type: 'array', items: {} }],
  ['an array or nothing', { type: ['array', 'null'] }, { type: ['array', 'null'], items: {} }],
  [
    'a tuple that is closed',
    { type: 'array', items: [{ type: 'string' }, { type: 'array' }], additionalItems: false },
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'array', items: {} }], items: false },
  ],
  ['a tuple with more', { items: [true], additionalItems: { type: 'any' } }, { prefixItems: [true], items: {} }],
  ['a tuple of nothing', { type: 'array', items: [] }, { type: 'array', items: {} }],
  ['an exclusive limit', { minimum: 0, exclusiveMinimum: true }, { exclusiveMinimum: 0 }],
  ['a limit that is not exclusive', { maximum: 9, exclusiveMaximum: false }, { maximum: 9 }],
  ['an exclusive limit of nothing', { exclusiveMinimum: true }, {}],
  ['an exclusive limit left empty', { minimum: null, exclusiveMinimum: true }, {}],
  ['limits as they are', { exclusiveMinimum: 0, maximum: 9 }, { exclusiveMinimum: 0, maximum: 9 }],
  ['types nobody knows', { anyOf: [{ type: 'any' }, { type: ['str', 'null'] }] }, { anyOf: [{}, {}] }],
  ['members left empty', { title: null, default: null, const: null }, { default: null, const: null }],
  ['lists where members have names, and none at all', { properties: [], $defs: [], anyOf: [], allOf: {} }, {}],
  ['a demand of the property itself', { type: 'string', required: true }, { type: 'string' }],
  ['a demand made twice', { required: ['a', 'a', 1] }, { required: ['a'] }],
  ['one example', { examples: 'a' }, {}],
  [
    'what is to be encrypted, and a property of that name',
    { properties: { a: { type: 'string', encrypted: true }, encrypted: { const: 1 } } },
    { properties: { a: { type: 'string' }, encrypted: { const: 1 } } },
  ],
  ['a keyword among the properties', { properties: { a: {}, type: 'object' } }, { properties: { a: {}, type: {} } }],
  [
    'properties that are not described',
    { properties: { a: null, b: [], c: true } },
    { properties: { a: {}, b: {}, c: true } },
  ],
  [
    'what stands for a schema',
    { items: 'a', not: 1, additionalProperties: 'no', anyOf: ['a', {}] },
    { anyOf: [{}, {}] },
  ],
  ['limits as text, and below nothing', { minLength: '1', maxItems: -1, multipleOf: 0, maximum: 'a' }, {}],
  ['words that are none', { title: 1, description: ['a'], format: {}, pattern: false, $ref: {} }, {}],
  ['flags that are none', { uniqueItems: 'true', deprecated: 'since 2' }, {}],
  ['values by name', { type: 'string', enum: { a: 'A' } }, { type: 'string' }],
  [
    'types none, and twice',
    { anyOf: [{ type: [] }, { type: ['string', 'string'] }] },
    { anyOf: [{}, { type: ['string'] }] },
  ],
  [
    'properties with the names of keywords',
    { properties: { type: { type: 'any' }, items: { type: 'array' }, required: { title: null } } },
    { properties: { type: {}, items: { type: 'array', items: {} }, required: {} } },
  ],
  [
    'values that look like schemas',
    { enum: [null, { type: 'any' }], default: { type: 'array', title: null } },
    { enum: [null, { type: 'any' }], default: { type: 'array', title: null } },
  ],
  [
    'a schema that needs no change',
    { $ref: '#/$defs/a', $defs: { a: false } },
    { $ref: '#/$defs/a', $defs: { a: false } },
  ],
])('%s', (_, schema, expected) => {
  const written = JSON.stringify(schema)
  expect(toDraft2020(schema)).toEqual(expected)
  expect(JSON.stringify(schema)).toBe(written)
  expect(toDraft2020(toDraft2020(schema))).toEqual(expected)
})

test('limits beyond the integers of a double stay', () => {
  const text = '{"properties":{"a":{"maximum":18446744073709551615,"maxLength":18446744073709551615}}}'
  expect(JSON.stringify(toDraft2020(parseExact(text) as JsonObject))).toBe(text)
})

test('nested alternatives are each converted once', () => {
  const within = (schema: JsonObject): JsonObject =>
    Array.from({ length: 60 }).reduce<JsonObject>((inner) => ({ anyOf: [inner] }), schema)
  expect(toDraft2020(within({ type: 'array' }))).toEqual(within({ type: 'array', items: {} }))
})
