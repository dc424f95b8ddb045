// YAML with the line of a mistake.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { sampleFor } from '../../src/config/sample.ts'
import { parseYaml } from '../../src/config/yaml.ts'

test.each([
  ['at the top', 'data: a\n# data: x\nlisten:\ndata: b\n', 4, 'data'],
  ['quoted the other time', 'data: a\n"data": b\n', 2, 'data'],
  ['in a mapping', 'providers:\n  vendor_a:\n    auth: bearer\n    accounts: []\n    auth: x-api-key\n', 5, 'auth'],
  ['two of a kind', 'providers:\n  vendor_a: {}\n  vendor_b: {}\n  vendor_a: {}\n', 4, 'vendor_a'],
  ['in an item of a list', 'list:\n  - name: a\n    weight: 1\n  - name: b\n    name: c\n', 5, 'name'],
  ['after a text of several lines', 'note: |\n  data: a\n  data: b\ndata: c\ndata: d\n', 5, 'data'],
  ['after a mapping in brackets', 'a: { x: 1,\n  y: "}" }\nb: 1\na: 2\n', 4, 'a'],
  ['with blanks and a comment', 'data : a # once\ndata:   b\n', 2, 'data'],
  ['in brackets', 'aliases: { fast: a, slow: b, fast: c }\n', 1, 'fast'],
  ['quoted, in brackets', `a: { x: "}, x: 1", 'x': 2 }\n`, 1, 'x'],
  ['in brackets of JSON', '{"a":{"x":1,\r\n"y":2,\r\n"x":3}}\r\n', 3, 'x'],
  ['in brackets in a list', 'list:\n  - { name: a, url: "http://x" }\n  - { name: b, name: c }\n', 3, 'name'],
  ['in brackets in brackets', 'a: [{ x: 1 }, { p: { in: 1, out: 2,\n in: 3 } }]\nb: 1\n', 2, 'in'],
  ['after brackets over several lines', 'a: [\n  { x: 1 }\n]\nb: 1\na: 2\n', 5, 'a'],
])('a member that stands twice is told by its second line: %s', (_, text, line, name) => {
  expect(parseYaml(text)).toEqual({ line, reason: `found "${name}" a second time` })
})

test.each([
  ['in different mappings', 'a:\n  x: 1\nb:\n  x: 2\n'],
  ['in different items', 'list:\n  - name: a\n  - name: b\n'],
  ['in items of their own lines', 'list:\n  -\n    name: a\n  -\n    name: b\n'],
  ['in lists that are not set in', 'list:\n- name: a\n- name: b\n'],
  ['in lists of lists', '- - name: a\n  - name: b\n- - name: a\n'],
  ['in texts', 'a: |\n  x: 1\n  x: 2\nb: "x: 1"\n'],
  [
    'in brackets over several lines',
    'a: [\n  { x: 1 },\n  { x: 2 }\n]\nb: {\n  x: { y: 1,\n  z: 2 }, w: {\n  y: 1 } }\n',
  ],
  [
    'as names and values in brackets',
    'a: { x: y, y: x, z: x, u: http://x:1/, http: u, v: [x, x, "x"], w: { x: 1 } }\n',
  ],
  ['in texts in brackets', `a: { x: "x: 1, x: 2", y: 'it''s, x: 1', z: b c, u: 1 }\n`],
  ['in comments in brackets', 'a: { x: 1, # x: 2 }\n  y: 2 } # x: 3, x: 4\n'],
  ['in what only looks like brackets', 'a: see {x, x}\nb: a [b\nc: 1\n'],
  ['in comments', 'a: 1\n# a: 2\nb: 1 # a: 3\n'],
  ['as names and values', 'a: http://x:80/\nhttp: a\nb: a\n'],
  ['in the sample', sampleFor([])],
])('members of one name are as they should be %s', (_, text) => {
  expect(parseYaml(text)).toEqual({ value: Bun.YAML.parse(text) })
})

test('a mistake inside a mapping in brackets is told by the line it opens on', () => {
  expect(parseYaml('data: a\nlisten: { port: 1\n')).toMatchObject({ line: 2 })
})

const words = [
  'http://127.0.0.1:9101/v1',
  'env:X',
  "it's",
  'a: b',
  '~',
  '- x',
  '{a}',
  '[1',
  'a # b',
  'x,y',
  '"q"',
  '*',
  'a:',
]
const text = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom(...words))
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.constantFrom(null, true, 5),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
}))

test('no member of a mapping that a program wrote is taken for a second one, in lines or in brackets', () => {
  const configs = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value)
  fc.assert(
    fc.property(configs, (config) => {
      for (const written of [
        JSON.stringify(config),
        JSON.stringify(config, null, 2),
        Bun.YAML.stringify(config, null, 2),
      ])
        if (isYaml(written)) expect(parseYaml(written)).toEqual({ value: Bun.YAML.parse(written) })
    }),
    { numRuns: 1_000 },
  )
})

const isYaml = (written: string): boolean => {
  try {
    Bun.YAML.parse(written)
    return true
  } catch {
    return false
  }
}
