// Laws of the models that a body names: found wherever they stand, and replaced without a trace of anything else.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/ir/json.ts'
import { decidesWithin, modelsWithin, withNames } from '../../src/wire/models-within.ts'
import { toolsWithin } from '../../src/wire/tools/within.ts'

const plain: fc.Arbitrary<Json> = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))
const NAMING = [
  'model',
  'models',
  'fallbacks',
  'fallback_models',
  'writerModel',
  'Model',
  'model_id',
  'judge_model_name',
]
const OTHERS = ['modelling', 'remodel', 'modality', 'mode', 'falls', 'x', 'temperature', 'settings']
/** A value about a name, as members hold it. */
const holding = (name: string): fc.Arbitrary<Json> =>
  fc.constantFrom<Json>(name, [name], [{ model: name, weight: 'high' }], { primary: name }, [{ id: name, note: 'x' }])
/** The value somewhere within others. */
const buried = (value: Json, depth: number): fc.Arbitrary<Json> =>
  depth === 0
    ? fc.constant(value)
    : fc.oneof(
        fc.tuple(fc.constantFrom(...OTHERS), buried(value, depth - 1), plain).map(
          ([name, inner, beside]): Json => ({
            ...{ beside, [name]: inner },
          }),
        ),
        fc
          .tuple(fc.array(plain, { maxLength: 3 }), buried(value, depth - 1))
          .map(([before, inner]): Json => [...before, inner]),
      )
const named = fc.constantFrom(...NAMING)
const body = fc
  .tuple(named, holding('the-model'), fc.integer({ min: 0, max: 4 }))
  .chain(([name, value, depth]) =>
    buried({ [name]: value }, depth).map((more): JsonObject => ({ model: 'own', some_settings: more })),
  )
const replaced = (given: JsonObject, by: string): string => {
  let text = JSON.stringify(given)
  for (const { path, value } of modelsWithin(given, toolsWithin(given))) {
    const before = JSON.stringify(value)
    expect(path.length).toBeGreaterThan(0)
    text = text.replace(before, JSON.stringify(withNames(value, path, () => by)))
  }
  return text
}

test('a name is found at any depth, in any form, and nothing else is', () => {
  fc.assert(
    fc.property(body, (given) => {
      expect(replaced(given, 'other')).toBe(JSON.stringify(given).replace('the-model', 'other'))
    }),
  )
})

test('it is found in any tool that is not the client’s, and in the schema of none that is', () => {
  fc.assert(
    fc.property(body, ({ some_settings: settings }) => {
      const hosted = { tools: [{ type: 'anything_new', settings: settings ?? null }] }
      const own = {
        tools: [{ type: 'function', function: { parameters: settings ?? null } }, { input_schema: settings ?? null }],
      }
      expect(modelsWithin(hosted, toolsWithin(hosted)).map(({ inTool }) => inTool)).toEqual([true])
      expect(modelsWithin(own, toolsWithin(own))).toEqual([])
    }),
  )
})

test('names like those that name models name none', () => {
  fc.assert(
    fc.property(fc.constantFrom(...OTHERS), plain, (name, value) => {
      expect(modelsWithin({ [name]: value }, [])).toEqual([])
      expect(decidesWithin(name)).toBe(false)
    }),
  )
})

test('a switch names none, and a map of lists names with its keys too', () => {
  for (const value of [true, false, 0, null, [], {}, [1]]) expect(modelsWithin({ fallbacks: value }, [])).toEqual([])
  const names: string[] = []
  const made = withNames([{ 'from-this': ['to-this'] }], ['fallbacks'], (name) => {
    names.push(name)
    return name.toUpperCase()
  })
  expect([made, names]).toEqual([[{ 'FROM-THIS': ['TO-THIS'] }], ['from-this', 'to-this']])
})
