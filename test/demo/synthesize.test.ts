// Values made to follow a JSON schema.

import { describe, expect, test } from 'bun:test'
import Ajv from 'ajv'
import fc from 'fast-check'
import { synthesize } from '../../src/demo/synthesize.ts'
import type { JsonObject } from '../../src/ir/json.ts'

const name = fc.stringMatching(/^[a-z][a-z_]{0,8}$/)

const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.record({ type: fc.constant('string'), minLength: fc.nat(5), maxLength: fc.integer({ min: 5, max: 40 }) }),
    fc
      .tuple(
        fc.constantFrom('integer', 'number'),
        fc.integer({ min: -1_000, max: 1_000 }),
        fc.integer({ min: 1, max: 500 }),
      )
      .map(([type, minimum, span]) => ({ type, minimum, maximum: minimum + span })),
    fc.constantFrom<JsonObject>({ type: 'boolean' }, { type: 'null' }, { type: ['string', 'null'] }, { const: 7 }),
    fc.uniqueArray(fc.string(), { minLength: 1 }).map((options) => ({ type: 'string', enum: options })),
    fc.tuple(tie('schema'), fc.nat(3)).map(([items, minItems]) => ({ type: 'array', items, minItems, maxItems: 4 })),
    fc.dictionary(name, tie('schema'), { maxKeys: 4 }).map((properties) => ({
      type: 'object',
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    })),
    tie('schema').map((inner) => ({ anyOf: [{ type: 'null' }, inner] })),
  ),
}))

describe('a synthesised value', () => {
  test('follows its schema, whatever was said', () => {
    const ajv = new Ajv({ strict: false })
    fc.assert(
      fc.property(schema, fc.string(), (shape, said) => {
        const validate = ajv.compile(shape)
        const value = synthesize(shape, said)
        expect([validate(value), validate.errors ?? [], value]).toEqual([true, [], value])
      }),
      { numRuns: 300 },
    )
  })

  test('takes what was quoted and the proper names, in order', () => {
    const shape = {
      type: 'object',
      properties: { city: { type: 'string' }, note: { type: 'string' }, days: { type: 'integer' } },
    }
    expect(synthesize(shape, 'weather in Phnom Penh for 3 days, note "take an umbrella"')).toEqual({
      city: 'take an umbrella',
      note: 'Phnom Penh',
      days: 3,
    })
    expect(synthesize(shape, 'Paris or in Tokyo and Rome', 1)).toEqual({ city: 'Rome', note: 'demo note', days: 42 })
  })

  test('resolves references and ends on a schema that contains itself', () => {
    const tree = {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: { value: { type: 'integer' }, next: { $ref: '#/$defs/node' } },
          required: ['value'],
        },
      },
    }
    expect(synthesize(tree, '')).toMatchObject({ value: 42, next: { value: 42 } })
  })
})
