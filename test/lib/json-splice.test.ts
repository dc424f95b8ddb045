// Laws of the splice: whatever is not edited keeps every byte.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { findMember, readContainer, readSlots, skipSpace } from '../../src/lib/json-scan.ts'
import { type Edit, FRONT, splice, spliceBytesOnce, spliceOnce } from '../../src/lib/json-splice.ts'
import { Pieces } from '../../src/lib/pieces.ts'

/** JSON text in forms no serialiser writes: spaces anywhere, escaped names, big numbers, names that occur twice. */
const space = fc.constantFrom('', ' ', '\n\t', '\r\n  ')
const jsonString = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text).replaceAll('a', '\\u0061')),
  fc.constantFrom('"\\\\"', '"\\""', '"model"', '"\\\\\\"model\\":1"', '"{[,]}"'),
)
const scalar = fc.oneof(
  jsonString,
  fc.constantFrom('true', 'false', 'null', '0', '-1.5e300', '123456789012345678901234567890', '1E-7'),
)
const { value: jsonText } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    tie('object'),
    fc
      .tuple(fc.array(tie('value'), { maxLength: 4 }), space)
      .map(([items, gap]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
  ),
  object: fc
    .tuple(fc.array(fc.tuple(jsonString, tie('value')), { maxLength: 4 }), space)
    .map(
      ([members, gap]) =>
        `{${gap}${members.map(([name, value]) => `${name}${gap}:${gap}${value}`).join(`${gap},${gap}`)}${gap}}`,
    ),
}))

describe('splice', () => {
  test('replaces a member and keeps every byte around it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(jsonString, jsonText)),
        fc.array(fc.tuple(jsonString, jsonText)),
        jsonText,
        space,
        (before, after, old, gap) => {
          const member = ([name, value]: [string, string]) => `${name}${gap}:${gap}${value}`
          const other = ([name]: [string, string]) => JSON.parse(name) !== 'model'
          const head = [...before.filter(other).map(member), `${gap}"model"${gap}:${gap}`].join(',')
          const tail = after
            .filter(other)
            .map((each) => `${gap},${member(each)}`)
            .join('')
          expect(splice(`{${head}${old}${tail}}`, [{ path: ['model'], value: '"new"' }])).toBe(`{${head}"new"${tail}}`)
        },
      ),
    )
  })

  test.each([
    ['[]', [0], '[9]'],
    ['[ 1, 2 ]', [], '[9, 1, 2 ]'],
    ['[ 1, 2 ]', [0], '[9,2 ]'],
    ['[1,2,3]', [0, 1, 2], '[9]'],
    ['"text"', [], '"text"'],
  ])('puts an element before those of the list %s without %j', (list, removed, due) => {
    const put: Edit = { path: ['list', FRONT], value: '9' }
    const edits = [put, ...removed.map((at): Edit => ({ path: ['list', at], value: undefined }))]
    expect(JSON.parse(splice(`{"list":${list}}`, edits))).toEqual({ list: JSON.parse(due) })
  })

  test.each([FRONT, 0])('puts no element %p into an object that stands under the name of the list, too', (at) => {
    const text = '{"list":{"a":1},"list":[1]}'
    const due = at === FRONT ? '{"list":{"a":1},"list":[9,1]}' : '{"list":{"a":1},"list":[9]}'
    expect(splice(text, [{ path: ['list', at], value: '9' }])).toBe(due)
  })

  test('gives the same result with the parsed text as without', () => {
    const name = fc.oneof(jsonString, fc.constantFrom('"model"', '"model"', '"mod\\u0065l"'))
    const edit = fc.constantFrom<Edit>(
      { path: ['model'], value: '"new"' },
      { path: ['model'], value: undefined },
      { path: ['model', 'x'], value: '1' },
      { path: ['{[,]}'], value: 'null' },
      { path: [0], value: '0' },
    )
    const some = fc.uniqueArray(edit, { minLength: 1, maxLength: 2, selector: ({ path }) => path[0] })
    fc.assert(
      fc.property(fc.array(fc.tuple(name, jsonText), { maxLength: 5 }), space, some, (members, gap, edits) => {
        const text = `${gap}{${members.map(([name, value]) => `${name}${gap}:${gap}${value}`).join(`${gap},${gap}`)}}`
        expect(splice(text, edits, JSON.parse(text))).toBe(splice(text, edits))
      }),
      { numRuns: 1_000 },
    )
  })

  test('adds an absent member and keeps every byte of the rest', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.string().filter((name) => name !== 'store'),
            jsonText,
          ),
        ),
        space,
        (members, gap) => {
          const inside = gap + members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')
          const out = splice(`{${inside}}`, [{ path: ['store'], value: 'false' }])
          expect(out.endsWith(`${inside}}`)).toBe(true)
          expect(JSON.parse(out).store).toBe(false)
        },
      ),
    )
  })

  test('removes any set of array elements and leaves the others as they were', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(jsonText, fc.boolean())), space, (items, gap) => {
        const text = `{"a":[${items.map(([item]) => gap + item + gap).join(',')}]}`
        const edits: Edit[] = items.flatMap(([, gone], at) => (gone ? [{ path: ['a', at], value: undefined }] : []))
        expect(JSON.parse(splice(text, edits)).a).toEqual(
          items.filter(([, gone]) => !gone).map(([item]) => JSON.parse(item)),
        )
      }),
    )
  })

  test('sets, adds and removes any members at once', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd')
    fc.assert(
      fc.property(
        fc.dictionary(name, fc.nat()),
        fc.uniqueArray(fc.tuple(name, fc.option(fc.nat(), { nil: undefined })), { selector: ([key]) => key }),
        (object, changes) => {
          const due: { [name: string]: number } = { ...object }
          for (const [key, value] of changes) {
            if (value === undefined) delete due[key]
            else due[key] = value
          }
          const edits = changes.map(
            ([key, value]): Edit => ({ path: [key], value: value === undefined ? undefined : String(value) }),
          )
          expect(JSON.parse(splice(JSON.stringify(object), edits))).toEqual(due)
        },
      ),
    )
  })

  test('many edits of many elements take linear time', () => {
    const many = 50_000
    const text = JSON.stringify(Array.from({ length: many }, () => 1))
    const edits = Array.from({ length: many }, (_, at): Edit => ({ path: [at], value: '2' }))
    expect(splice(text, edits)).toBe(text.replaceAll('1', '2'))
  })

  test('edits at several depths have the same effect together as alone', () => {
    const text = '{ "model" : "a", "s": {"x":[1, {"y" : 2}, 3]}, "model": "b" }'
    const out = splice(text, [
      { path: ['model'], value: '"m"' },
      { path: ['s', 'x', 1, 'y'], value: '9' },
      { path: ['s', 'x', 2], value: undefined },
      { path: ['s', 'z'], value: 'true' },
    ])
    expect(out).toBe('{ "model" : "m", "s": {"z":true,"x":[1, {"y" : 9}]}, "model": "m" }')
  })

  test('a name written with escapes is the same name', () => {
    expect(splice('{"mod\\u0065l":1}', [{ path: ['model'], value: '2' }])).toBe('{"mod\\u0065l":2}')
  })

  test('a path that does not exist changes nothing', () => {
    const text = '{"a":[1],"b":"x"}'
    expect(
      splice(text, [
        { path: ['a', 5], value: '1' },
        { path: ['b', 'c'], value: '1' },
        { path: ['q'], value: undefined },
      ]),
    ).toBe(text)
  })

  test('nesting of 100,000 levels is skipped without recursion', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    expect(splice(`{"deep":${deep},"model":"a"}`, [{ path: ['model'], value: '"b"' }])).toBe(
      `{"deep":${deep},"model":"b"}`,
    )
  })
})

describe('spliceOnce', () => {
  const name = fc.constantFrom('"model"', '"mod\\u0065l"', '"stream"', '"a"', '"__proto__"')
  const edit = fc.constantFrom<Edit>(
    { path: ['model'], value: '"new"' },
    { path: ['stream'], value: undefined },
    { path: ['absent'], value: '1' },
    { path: ['a', 'x'], value: '2' },
  )

  test('leaves each of those members once, as splice would leave it where JSON.parse reads it, and all of the others', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(name, jsonText), { maxLength: 6 }),
        space,
        fc.uniqueArray(edit, { maxLength: 3, selector: ({ path }) => path[0] }),
        fc.constantFrom(['model', 'stream', 'a', '__proto__'], ['model', 'stream'], []),
        (members, gap, edits, names) => {
          const once = new Set<string>(names)
          const text = `${gap}{${gap}${members.map(([key, value]) => `${key}${gap}:${value}`).join(`${gap},`)}${gap}}`
          const spliced = spliceOnce(text, edits, once)
          expect(JSON.parse(spliced)).toEqual(JSON.parse(splice(text, edits)))
          const keysOf = (json: string) => readSlots(json, skipSpace(json, 0)).map(({ key }) => String(key))
          const keys = keysOf(spliced).filter((key) => once.has(key))
          expect(keys).toEqual([...new Set(keys)])
          const others = (json: string) => keysOf(json).filter((key) => !once.has(key))
          expect(others(spliced)).toEqual(others(splice(text, edits)))
          const utf8 = new TextEncoder().encode(text)
          const known = readContainer(Buffer.from(text).toString('latin1'), gap.length)
          for (const outermost of [undefined, known]) {
            const bytes = spliceBytesOnce(utf8, edits, once, outermost)
            const all = bytes instanceof Pieces ? bytes.copied() : bytes
            expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(all)).toBe(spliced)
          }
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('changes no byte of a text that repeats nothing', () => {
    const text = '{ "model" : "a",\n "stream":true , "messages":[{"model":1,"model":2}]}'
    expect(spliceOnce(text, [], new Set(['model', 'stream', 'messages']))).toBe(text)
  })
})

describe('findMember', () => {
  test('gives the position of the value that JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (object, name) => {
        const text = JSON.stringify(object, null, 1)
        const span = findMember(text, name)
        if (Object.hasOwn(object, name))
          expect(JSON.parse(text.slice(span?.start, span?.end))).toEqual(JSON.parse(text)[name])
        else expect(span).toBeUndefined()
      }),
    )
  })
})
