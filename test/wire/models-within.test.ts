// Laws of the models that a body names: found wherever they stand, and replaced without a trace of anything else.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/ir/json.ts'
import { decidesWithin, modelsWithin, saysWhereWithin, withNames } from '../../src/wire/models-within.ts'
import { toolsBrought, toolsListed } from '../../src/wire/tools/within.ts'

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
const toolsIn = (body: JsonObject) => [...toolsListed(body), ...toolsBrought(body)]
const replaced = (given: JsonObject, by: string): string => {
  let text = JSON.stringify(given)
  for (const { path, value } of modelsWithin(given, toolsIn(given))) {
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
      expect(modelsWithin(hosted, toolsIn(hosted)).map(({ inTool }) => inTool)).toEqual([true])
      expect(modelsWithin(own, toolsIn(own))).toEqual([])
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

const WHERE = [
  'api_base',
  'apiBase',
  'base_url',
  'baseURL',
  'endpoint_url',
  'remote_host',
  'host',
  'api_key',
  'API_KEY',
]
const where = fc.constantFrom(...WHERE)

test('where else to ask is found at any depth, as a text or a list of texts, and in nothing else under its name', () => {
  const said = fc.constantFrom<Json>('elsewhere', ['elsewhere'], [null, 'elsewhere'])
  const unsaid = fc.oneof<fc.Arbitrary<Json>[]>(
    fc.constantFrom<Json>('', null, true, 443, [], {}, [1], { type: 'string' }),
    fc.record({ description: fc.string(), enum: fc.array(fc.string()) }),
  )
  const within = (value: fc.Arbitrary<Json>) =>
    fc.tuple(where, value, fc.integer({ min: 0, max: 3 })).chain(([name, one, depth]) => buried({ [name]: one }, depth))
  fc.assert(fc.property(within(said), (given) => expect(saysWhereWithin('some_settings', given)).toBe(true)))
  fc.assert(fc.property(within(unsaid), (given) => expect(saysWhereWithin('some_settings', given)).toBe(false)))
})

test('what a client names as it likes is no setting: variables, labels, headers, schemas, its own sources', () => {
  const FREE = [
    ...['chat_template_kwargs', 'chatTemplateKwargs', 'logit_bias', 'extra_headers', 'safety_settings', 'labels'],
    ...['attributes', 'variables', 'grammar', 'format', 'guided_json', 'guided_choice', 'json_schema', 'schema'],
    ...['structured_outputs', 'response_format', 'data_sources', 'mcp_servers', 'metadata', 'client_metadata'],
  ]
  fc.assert(
    fc.property(fc.constantFrom(...FREE), where, fc.integer({ min: 0, max: 3 }), (free, name, depth) => {
      const [held] = fc.sample(buried({ [name]: 'own' }, depth), 1)
      expect(saysWhereWithin(free, held)).toBe(false)
      expect(saysWhereWithin('extra_body', { [free]: held ?? null })).toBe(false)
    }),
  )
})
