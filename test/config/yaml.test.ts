// YAML with the line of a mistake.

import { expect, test } from 'bun:test'
import { SAMPLE } from '../../src/config/sample.ts'
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
  ['in comments', 'a: 1\n# a: 2\nb: 1 # a: 3\n'],
  ['as names and values', 'a: http://x:80/\nhttp: a\nb: a\n'],
  ['in the sample', SAMPLE],
])('members of one name are as they should be %s', (_, text) => {
  expect(parseYaml(text)).toEqual({ value: Bun.YAML.parse(text) })
})

test('a mistake inside a mapping in brackets is told by the line it opens on', () => {
  expect(parseYaml('data: a\nlisten: { port: 1\n')).toMatchObject({ line: 2 })
})
