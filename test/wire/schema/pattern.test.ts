// Patterns in schemas that cross to vendor_b, which refuses the whole request for one that it cannot read.

import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/ir/json.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { isReadable, withReadablePatterns } from '../../../src/wire/schema/pattern.ts'

test.each([
  String.raw`^\+?\d{1,3}[ -]?\(?\d{3}\)?$`,
  String.raw`^(?:a|b)+(c)\.\/[^\]\\(?<]*$`,
  String.raw`^[\w.-]+@[a-zA-Z0-9]+\b\x41\u0041\n$`,
  String.raw`\(?=\)`,
  '[(?!]',
  'é{2}',
  '',
])('%p is read', (pattern) => expect(isReadable(pattern)).toBe(true))

test.each([
  ['looks ahead', String.raw`^(?!\.)a`],
  ['looks ahead, in a group', '(a(?=b))'],
  ['looks behind', '(?<=a)b'],
  ['looks behind for none', '(?<!a)b'],
  ['refers back', String.raw`(a)\1`],
  ['names a group', '(?<year>a)'],
  ['names a group and refers to it', String.raw`(?<a>b)\k<a>`],
  ['has a class of characters by property', String.raw`[^\p{Cc}]`],
  ['has a character by its long number', String.raw`\u{1F600}`],
  ['has an escape of its language', String.raw`\cA`],
  ['has an empty class', 'a[]'],
  ['has a class of anything', '[^]'],
  ['has a class without an end', '[a'],
  ['ends in the midst of an escape', 'a\\'],
  ['has a flag', '(?i)a'],
])('one that %s is not', (_, pattern) => expect(isReadable(pattern)).toBe(false))

test('one of any length is read in time', () => {
  expect(isReadable('(?:a|[b])*'.repeat(20_000))).toBe(true)
  expect(isReadable(`${'a'.repeat(500_000)}\\`)).toBe(false)
})

const hidden = '(?!x)'

describe('what is not read is said in the description', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['alone', { type: 'string', pattern: hidden }, { type: 'string', description: '{pattern: "(?!x)"}' }],
    [
      'behind what it says',
      { type: 'string', pattern: hidden, description: 'A word.' },
      { type: 'string', description: 'A word.\n\n{pattern: "(?!x)"}' },
    ],
    [
      'wherever a schema stands',
      {
        properties: { a: { type: 'array', items: { pattern: hidden } } },
        anyOf: [{ pattern: hidden }],
        $defs: { d: { pattern: hidden } },
      },
      {
        properties: { a: { type: 'array', items: { description: '{pattern: "(?!x)"}' } } },
        anyOf: [{ description: '{pattern: "(?!x)"}' }],
        $defs: { d: { description: '{pattern: "(?!x)"}' } },
      },
    ],
    [
      'for names of properties, which may then be any',
      { patternProperties: { '^a': { type: 'string' }, [hidden]: { type: 'number' } }, additionalProperties: false },
      {
        patternProperties: { '^a': { type: 'string' } },
        description: '{patternProperties: {"(?!x)":{"type":"number"}}, additionalProperties: false}',
      },
    ],
    [
      'for the only such name',
      { patternProperties: { [hidden]: { pattern: hidden } } },
      { description: '{patternProperties: {"(?!x)":{"pattern":"(?!x)"}}}' },
    ],
  ])('%s', (_, schema, expected) => {
    const written = JSON.stringify(schema)
    expect(withReadablePatterns(schema)).toEqual(expected)
    expect(JSON.stringify(schema)).toBe(written)
  })

  test('however deep they nest, in no more words than they are', () => {
    const nested = (depth: number): JsonObject =>
      depth === 0 ? {} : { patternProperties: { [hidden]: nested(depth - 1) } }
    expect(JSON.stringify(withReadablePatterns(nested(18))).length).toBeLessThan(1_000)
    const read = { patternProperties: { a: nested(18) } }
    expect(JSON.stringify(withReadablePatterns(read)).length).toBeLessThan(1_000)
  })

  test.each<[string, JsonObject]>([
    ['a pattern that is read', { pattern: '^a', patternProperties: { '^b': {} } }],
    ['a property of that name', { properties: { pattern: { type: 'string' } }, required: ['pattern'] }],
    ['a value that looks like one', { default: { pattern: hidden }, enum: [{ pattern: hidden }] }],
  ])('%s stays', (_, schema) => expect(withReadablePatterns(schema)).toBe(schema))
})

describe('crossing', () => {
  const own = { type: 'object', properties: { a: { type: 'string', pattern: hidden } }, required: ['a'] }
  const closed = { ...own, additionalProperties: false }
  const told = { type: 'string', description: '{pattern: "(?!x)"}' }
  const hi = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
  const tools = [{ name: 't', input_schema: own }]
  const target = { model: 'up', maxOutput: 64_000, quirks: {} }
  const properties = ({ properties }: JsonObject): unknown => properties

  test.each(['responses', 'chat-completions'] as const)('tools and a structured answer for %s', (wire) => {
    const asked = { ...hi, tools, output_config: { format: { type: 'json_schema', schema: closed } } }
    const { body } = CHAT_CODECS[wire].encodeRequest(CHAT_CODECS.messages.decodeRequest(asked), target)
    const sent = JSON.parse(JSON.stringify(body))
    const tool = sent.tools[0].function ?? sent.tools[0]
    const format = sent.text?.format ?? sent.response_format.json_schema
    expect(properties(tool.parameters)).toEqual({ a: told })
    expect(properties(format.schema)).toEqual({ a: told })
    expect(format.strict).toBe(true)
  })

  test('messages: its provider reads them', () => {
    const asked = { ...hi, tools: [{ type: 'function', function: { name: 't', parameters: own } }] }
    const request = CHAT_CODECS['chat-completions'].decodeRequest(asked)
    const { body } = CHAT_CODECS.messages.encodeRequest(request, target)
    expect(body.tools).toEqual([{ name: 't', input_schema: own }])
  })
})
