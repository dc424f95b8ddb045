// Changes to files of others: what is named changes, every other byte that means something stays.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Edit, Format, JsonObject } from '../../src/clients/client.ts'
import { applied, edited, read, Unreadable } from '../../src/clients/edit.ts'
import { reverted } from '../../src/clients/revert.ts'

const EDITS: Edit[] = [
  { at: ['model'], value: 'm-2' },
  { at: ['servers', 'sluice'], value: { url: 'http://127.0.0.1:1/v1', key: 'k' } },
]

const FILES: Record<'json' | 'yaml' | 'toml', string> = {
  json: '{\n    // mine, not yours\n    "zeta": [1, 2,], /* kept */\n    "model": "m-1", // the best\n    "servers": {\n        "home": { "url": "x" },\n    },\n}\n',
  yaml: '# mine, not yours\nzeta: [1, 2]\n\nmodel: m-1 # the best\nservers:\n  home: { url: "x" } # kept\nlong: "a line that is much longer than what a writer of such files would let stand without folding it into two"\n',
  toml: '# mine, not yours\nzeta = [1, 2]\nwhen = 2026-11-27\n\nmodel = "m-1" # the best\n\n[servers.home]\nurl = \'x\' # kept\n\n[[list]]\na = 1\n',
}

describe.each(Object.entries(FILES) as [Format, string][])('%s', (format, text) => {
  const after = edited(format, text, EDITS)

  test('takes the changes, and keeps comments, order and the rest', () => {
    const value = read(format, after)
    expect(value).toMatchObject({ model: 'm-2', servers: { sluice: { key: 'k' }, home: { url: 'x' } } })
    for (const word of ['mine, not yours', 'the best', 'kept']) expect(after).toContain(word)
    const names = (file: string) => Object.keys(read(format, file))
    expect(names(after)).toEqual(names(text))
    const lines = text.split('\n').filter((line) => !/model|home/.test(line))
    // A writer of YAML lays lists out by its own measure of blanks.
    const words = (of: string) => of.replaceAll(' ', '')
    for (const line of lines) expect(words(after)).toContain(words(line))
  })

  test('a second time changes nothing', () => {
    expect(edited(format, after, EDITS)).toBe(after)
  })

  test('what was set goes again, and what came later stays', () => {
    const later = edited(format, after, [{ at: ['later'], value: true }])
    const { later: stays, ...rest } = read(format, reverted(format, later, text, EDITS))
    expect(stays).toBe(true)
    expect(rest).toEqual(read(format, text))
  })

  test('line ends of Windows and a byte order mark stay', () => {
    const windows = `\uFEFF${text.replaceAll('\n', '\r\n')}`
    const changed = edited(format, windows, EDITS)
    expect(changed.startsWith('\uFEFF')).toBe(true)
    expect(changed.replaceAll('\r\n', '')).not.toContain('\n')
    expect(read(format, changed)).toEqual(read(format, after))
  })

  test('of no file it makes a whole one', () => {
    expect(read(format, edited(format, '', EDITS))).toEqual(applied({}, EDITS))
  })
})

test.each(['own = 1\n', '# mine\nown = 1', '[own]\na = 1\n', '[[own]]\na = 1\n\n[own.b]\nc = 1\n', '', '# mine\n'])(
  'the first tables of a list find a place in a TOML file that says %j',
  (text) => {
    const edit: Edit = {
      at: ['list'],
      own: { member: 'name', name: 'sluice' },
      value: [{ name: 'sluice', deep: { a: 1 } }],
    }
    const edits: Edit[] = [{ at: ['model'], value: 'm-2' }, edit]
    const after = edited('toml', text, edits)
    expect(read('toml', after)).toEqual(applied(read('toml', text), edits))
    for (const line of text.split('\n').filter(Boolean)) expect(after.split('\n')).toContain(line)
    expect(edited('toml', after, edits)).toBe(after)
  },
)

test.each([
  ['json', '{ "model": ', 'it is no JSON (line 1)'],
  ['json', '[1]', 'it holds no group of settings'],
  ['json', '{ "servers": "none" }', '"servers" in it is no group of settings'],
  ['yaml', 'a: [1\nb: 2\n', 'it is no YAML'],
  ['yaml', '- a\n', 'it holds no group of settings'],
  ['toml', 'a = 1\nb = \n', 'it is no TOML'],
] as const)('%s that is %j is refused', (format, text, reason) => {
  const act = () => edited(format, text, EDITS)
  expect(act).toThrow(Unreadable)
  expect(act).toThrow(reason)
})

describe.each(['json', 'yaml', 'toml'] as const)('in a list of %s', (format) => {
  const own = { member: 'name', name: 'sluice' }
  const edits = (...names: string[]): Edit[] => [{ at: ['models'], own, value: names.map((name) => ({ name, n: 1 })) }]
  const mine = { models: [{ name: 'mine', n: 9 }, { name: 'sluiced' }] }
  const text = edited(
    format,
    '',
    Object.entries(mine).map(([name, value]) => ({ at: [name], value })),
  )

  test('entries of others stay, ours are exchanged and go again', () => {
    const once = edited(format, text, edits('sluice/a', 'sluice/b'))
    const twice = edited(format, once, edits('sluice/c'))
    expect(read(format, twice)).toEqual({ models: [...mine.models, { name: 'sluice/c', n: 1 }] })
    expect(read(format, reverted(format, twice, text, edits('sluice/c')))).toEqual(mine)
  })

  test('a list that was not there goes whole', () => {
    expect(read(format, reverted(format, edited(format, '', edits('sluice/a')), '', edits('sluice/a')))).toEqual({})
  })
})

test.each([
  ['json', '{\n  // mine\n  "group": null,\n  "a": 1\n}\n'],
  ['yaml', '# mine\ngroup: # to do\na: 1\n'],
] as const)('a group of %s that holds nothing is filled, and empty again afterwards', (format, text) => {
  const edits: Edit[] = [{ at: ['group', 'inner', 'x'], value: 1 }]
  const after = edited(format, text, edits)
  expect(after).toContain('mine')
  expect(read(format, after)).toEqual({ a: 1, group: { inner: { x: 1 } } })
  expect(edited(format, after, edits)).toBe(after)
  const later = edited(format, after, [{ at: ['later'], value: 2 }])
  expect(read(format, reverted(format, later, text, edits))).toEqual({ group: null, a: 1, later: 2 })
})

test.each([
  ['json', '{ "model": "m-1", "a": 1 }\n'],
  ['yaml', 'model: m-1 # mine\na: 1\n'],
] as const)('a short form of %s gives way to its group where the client has one, and comes back', (format, text) => {
  const edits: Edit[] = [
    { at: ['model', 'default'], value: 'm-2', short: true },
    { at: ['model', 'url'], value: 'u' },
  ]
  const after = edited(format, text, edits)
  expect(read(format, after)).toEqual({ model: { default: 'm-2', url: 'u' }, a: 1 })
  const later = edited(format, after, [{ at: ['later'], value: 2 }])
  expect(read(format, reverted(format, later, text, edits))).toEqual({ model: 'm-1', a: 1, later: 2 })
  const [, plain] = edits
  expect(() => edited(format, text, plain === undefined ? [] : [plain])).toThrow('is no group of settings')
})

test.each([
  ['yaml', '# mine, all of it\n', 'ours: 1\n'],
  ['yaml-list', '# mine\n\n# and more\n', '- id: sluice\n'],
] as const)('a %s file of nothing but comments keeps them', (format, text, ours) => {
  const edits: Edit[] =
    format === 'yaml'
      ? [{ at: ['ours'], value: 1 }]
      : [{ at: ['entries'], own: { member: 'id', name: 'sluice' }, value: [{ id: 'sluice' }] }]
  const after = edited(format, text, edits)
  expect(after.endsWith(ours)).toBe(true)
  for (const line of text.trim().split('\n')) expect(after).toContain(line)
})

test('of a file of variables only the lines named change', () => {
  const text = '# mine\nexport A="1"\nB=2\nif true; then echo; fi\n'
  const edits = [
    { at: ['A'], value: 'x' },
    { at: ['C'], value: 'y' },
  ]
  const after = edited('env', text, edits)
  expect(after).toBe('# mine\nexport A=x\nB=2\nif true; then echo; fi\nC=y\n')
  expect(reverted('env', after, text, edits)).toBe('# mine\nexport A=1\nB=2\nif true; then echo; fi\n')
})

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,6}$/)
const leaf = fc.oneof(fc.stringMatching(/^[ -~]{0,12}$/), fc.integer({ min: -1e6, max: 1e6 }), fc.boolean())
const group: fc.Arbitrary<JsonObject> = fc.dictionary(
  name,
  fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.dictionary(name, leaf, { maxKeys: 3, noNullPrototype: true })),
  { maxKeys: 5, noNullPrototype: true },
)

test.each(['json', 'yaml', 'toml'] as const)(
  'any %s says afterwards what was meant, and can be taken back',
  (format) => {
    fc.assert(
      fc.property(group, name, leaf, (before, at, value) => {
        const text = edited(
          format,
          '',
          Object.entries(before).map(([member, of]) => ({ at: [member], value: of })),
        )
        const edits: Edit[] = [
          { at: [`x${at}`], value },
          { at: ['ours', at], value },
        ]
        const after = edited(format, text, edits)
        expect(read(format, after)).toEqual(applied(before, edits))
        expect(read(format, reverted(format, after, text, edits))).toEqual(before)
      }),
      { numRuns: 60 },
    )
  },
)

test('a whole file that is a list takes ours, and keeps what else is in it', () => {
  const own = { member: 'id', name: 'sluice' }
  const edits: Edit[] = [{ at: ['entries'], own, value: [{ id: 'sluice/a' }] }]
  const text = '# mine\n- id: other # kept\n'
  const after = edited('yaml-list', text, edits)
  expect(after).toBe(`${text}- id: sluice/a\n`)
  expect(edited('yaml-list', after, edits)).toBe(after)
  expect(reverted('yaml-list', after, text, edits)).toBe(text)
  expect(edited('yaml-list', '', edits)).toBe('- id: sluice/a\n')
  expect(() => edited('yaml-list', 'id: x\n', edits)).toThrow('it holds no list')
})

test('what is only set where there is none is left where there is', () => {
  const edits: Edit[] = [{ at: ['a'], value: 1, absent: true }]
  expect(edited('json', '{"a": 2}', edits)).toBe('{"a": 2}')
  expect(read('json', edited('json', '{}', edits))).toEqual({ a: 1 })
})
