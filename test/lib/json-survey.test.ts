// Laws of the survey and of the scanner: they count as parsing would, whatever pieces the bytes come in, let no shape through
// that would take long to parse, and find the same.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { compiledScanner } from '../../scripts/scanner.ts'
import { parseJson } from '../../src/ir/json.ts'
import { outline } from '../../src/lib/json-outline.ts'
import { readInTurns, readNow } from '../../src/lib/json-reader.ts'
import { scanPieces } from '../../src/lib/json-scanner/pieces.ts'
import {
  type Allowance,
  type Bound,
  JSON_BOUNDS,
  type Read,
  type Reader,
  Survey,
  surveyPieces,
  TooMuchJson,
} from '../../src/lib/json-survey.ts'
import { createTurns } from '../../src/lib/turns.ts'

const utf8 = new TextEncoder()
const surveyOf = (bytes: Uint8Array): Survey => {
  const survey = new Survey()
  survey.see(bytes)
  return survey
}
const survey = (text: string): Survey => surveyOf(utf8.encode(text))

/** What a reader finds, or the bound that is exceeded. */
const found = (reader: Reader): Read | Bound => {
  try {
    while (reader.next());
    return reader.found()
  } catch (error) {
    if (error instanceof TooMuchJson) return error.bound
    throw error
  } finally {
    reader.end()
  }
}

/** As data that is compared. */
const plain = (read: Read | Bound): unknown =>
  typeof read === 'string' ? read : { ...read, short: undefined, cut: [...(read.cut as number[])] }

const scanOf = (bytes: Uint8Array, pieceBytes?: number, allowed?: Allowance): Reader => {
  const reader = scanPieces(bytes, { ...(pieceBytes === undefined ? {} : { pieceBytes }), allowed })
  if (reader === undefined) throw new Error('This machine has no SIMD for WebAssembly.')
  return reader
}
const scanned = (text: string, pieceBytes?: number): Read | Bound => found(scanOf(utf8.encode(text), pieceBytes))
const surveyed = (text: string): Read | Bound => found(surveyPieces(utf8.encode(text), 1024 * 1024))

const READERS: [string, (text: string) => Read | Bound][] = [
  ['the survey', surveyed],
  ['the scanner', scanned],
]
const exceeded = (found: Read | Bound): Bound | undefined => (typeof found === 'string' ? found : undefined)

/** What a survey tells, as data. */
const told = ({ members, long, faulty, open }: Survey) => ({ members, long, faulty, open })

describe('a survey', () => {
  test('tells the same whatever pieces the bytes come in', () => {
    const name = fc.oneof(fc.string(), fc.constantFrom('a"b', 'ខ្មែរ', '\\', 'x'.repeat(70)))
    const value = fc.oneof(fc.jsonValue(), name)
    fc.assert(
      fc.property(
        fc.dictionary(name, value, { maxKeys: 5 }),
        fc.constantFrom(0, 1),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        (given, indent, sizes) => {
          const bytes = utf8.encode(JSON.stringify(given, null, indent))
          const pieces = new Survey()
          for (let at = 0; at < bytes.length; ) {
            const size = sizes.next().value
            pieces.see(bytes.subarray(at, at + size))
            at += size
          }
          expect(told(pieces)).toEqual(told(surveyOf(bytes)))
        },
      ),
    )
  })

  test('in turns tells the same', async () => {
    const bytes = utf8.encode(JSON.stringify({ a: ['\\"'.repeat(700_000), { b: 'x'.repeat(600_000) }], c: 1 }))
    const read = await readInTurns(bytes, createTurns())
    expect(read).toEqual(readNow(bytes))
    expect(plain(read)).toEqual(plain(found(surveyPieces(bytes, 100_000))))
  })

  test.each([
    ['"\\x"', true],
    ['"\\u12G4"', true],
    ['"\\u12"', true],
    ['"a\nb"', true],
    ['"\u0001"', true],
    ['"\\u12aF\\n\\/\\\\\\""', false],
    ['[\n\t"a"\r]', false],
  ])('says whether a string holds what none may: %j', (text, faulty) => {
    expect(survey(text).faulty).toBe(faulty)
  })
})

const { depth, containers, values, forms, escapes, digits } = JSON_BOUNDS
const times = (count: number, one: (at: number) => string, glue = ','): string =>
  Array.from({ length: count }, (_, at) => one(at)).join(glue)

/** Each shape by its size: a text at the bound, and one just past it. */
const SHAPES: [string, Bound, number, (size: number) => string][] = [
  ['lists in lists', 'depth', depth, (size) => '['.repeat(size) + ']'.repeat(size)],
  ['objects in objects', 'depth', depth, (size) => `${'{"a":'.repeat(size)}1${'}'.repeat(size)}`],
  ['lists and objects in turn', 'depth', depth, (size) => `${'{"a":['.repeat(size / 2)}${size % 2 ? '[]' : ''}`],
  ['lists side by side', 'containers', containers - 1, (size) => `[${times(size, () => '[]')}]`],
  ['numbers', 'values', values, (size) => `[${times(size, () => '1')}]`],
  ['short strings', 'values', values, (size) => `[${times(size, (at) => `"s${at}"`)}]`],
  ['members of one name', 'forms', forms, (size) => `{${times(size, () => '"model":"m"')}}`],
  ['names that differ', 'forms', forms, (size) => `[${times(size, (at) => `{"n${at}":1}`)}]`],
  ['numeric names that fall', 'forms', forms, (size) => `{${times(size, (at) => `"${4e9 - at}":1`)}}`],
  ['line breaks', 'escapes', escapes, (size) => `["${'\\n'.repeat(size)}"]`],
  ['escaped letters', 'escapes', escapes, (size) => `["${'\\u1781'.repeat(size)}"]`],
  ['a long number', 'digits', digits, (size) => `[${'1'.repeat(size)}]`],
  ['a long exponent', 'digits', digits, (size) => `[1e${'9'.repeat(size - 2)}]`],
]

describe('the bounds', () => {
  describe.each(READERS)('are kept, says %s,', (_, read) => {
    test.each(SHAPES)('by %s: %s', (_, bound, most, make) => {
      // Forms are remembered by a hash: some are taken for others, and none is counted twice.
      const past = bound === 'forms' ? most * 2 : most + (bound === 'values' ? 2 : 1)
      expect([exceeded(read(make(most - 2))), exceeded(read(make(past)))]).toEqual([undefined, bound])
    })
  })

  test.each(SHAPES)('of text that is parsed at once hold for %s', (_, bound, most, make) => {
    if (bound === 'digits') return
    const text = make(bound === 'depth' ? most * 40 : bound === 'forms' ? most * 2 : most + 2)
    expect(parseJson(text)).toBeUndefined()
  })

  test('are wider where that is allowed, for what it is allowed for', () => {
    const allowed = { containers: containers * 2, values: values * 3 }
    const lists = (size: number): string => `[${times(size, () => '[]')}]`
    const numbers = (size: number): string => `[${times(size, () => '1')}]`
    const read = (text: string): (Bound | undefined)[] => {
      const bytes = utf8.encode(text)
      return [surveyPieces(bytes, 1024 * 1024, allowed), scanOf(bytes, undefined, allowed)].map((one) =>
        exceeded(found(one)),
      )
    }
    const bounds = [lists(containers + 1), lists(containers * 2), numbers(values + 2), numbers(values * 3 + 2)].map(
      read,
    )
    expect(bounds).toEqual(([undefined, 'containers', undefined, 'values'] as const).map((bound) => [bound, bound]))
    // What was allowed once is not allowed to the next.
    expect(exceeded(scanned(lists(containers + 1)))).toBe('containers')
  })

  test('do not count what stands in strings', () => {
    const inside = '[{,1":'.replaceAll('"', '\\"').repeat(values)
    for (const [, read] of READERS) expect(exceeded(read(`{"a":"${inside}"}`))).toBeUndefined()
  })

  test.each([
    ['ten thousand turns of a conversation with tools', 10_000],
    ['a turn that is a file', 1],
  ])('let %s pass', (_, turns) => {
    const text = 'line of text\n'.repeat(Math.ceil(400_000 / turns / 10))
    const message = (at: number) =>
      JSON.stringify([
        { role: 'assistant', content: null, tool_calls: [{ id: `c${at}`, function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: `c${at}`, content: text },
      ]).slice(1, -1)
    const body = `{"model":"m","messages":[${times(turns, message)}]}`
    for (const [, read] of READERS) expect(exceeded(read(body))).toBeUndefined()
  })
})

/** What makes JSON hard to read, in pieces: of these, random texts are put together, most of them none. */
const token = fc.constantFrom(
  ...[
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"a"',
    '"a":',
    '""',
    'true',
    'false',
    'null',
    'tru',
    'nulll',
    'True',
    '0',
    '-0',
    '01',
  ],
  ...[
    '-',
    '1.',
    '.5',
    '1.5',
    '1e',
    '1e+',
    '1E-7',
    '1e5.',
    '+1',
    '9'.repeat(20),
    '"\\u12aF"',
    '"\\u12g4"',
    '"\\x"',
    '"\\',
  ],
  ...[
    '"\t"',
    '"\\t"',
    ' ',
    '\n',
    '\t',
    '\r',
    '\u000b',
    '\u00a0',
    '\ufeff',
    '\u0000',
    '//',
    "'a'",
    `"${'x'.repeat(70)}"`,
  ],
)

/** Strings on both sides of what is cut, with what makes strings hard to read. */
const string = fc
  .tuple(
    fc.array(
      fc.constantFrom('a', ' ', '"', '\\', '\n', '\u0001', '/', '{', ']', ',', 'ខ្មែរ', '😀', '\ud800', '\u007f'),
      {
        maxLength: 30,
      },
    ),
    fc.constantFrom(1, 1, 3, 40),
  )
  .map(([parts, times]) => parts.join('').repeat(times))
const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.bigInt().map(String))
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    string,
    number,
    fc.constantFrom(null, true, false, {}, []),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(string, tie('value'), { maxKeys: 5 }),
  ),
}))
const indent = fc.constantFrom(undefined, 1, '\t')
const json = fc.oneof(
  fc.tuple(value, indent).map(([given, space]) => JSON.stringify(given, null, space)),
  // Names may come twice.
  fc.tuple(fc.array(fc.tuple(string, value), { maxLength: 8 }), indent).map(([members, space]) => {
    const written = members.map(([name, one]) => `${JSON.stringify(name)} : ${JSON.stringify(one, null, space)}`)
    return `{${written.join(' ,\n')}} `
  }),
)

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** So small that a text has many, and large enough for any number. */
const pieceBytes = fc.integer({ min: 1_024, max: 1_100 })

describe('the scanner', () => {
  test('finds in JSON what the survey finds, whatever pieces it is read in', () => {
    fc.assert(
      fc.property(json, pieceBytes, fc.nat(1_100), (text, size, ahead) => {
        const padded = ' '.repeat(ahead) + text
        const expected = plain(surveyed(padded))
        expect(plain(scanned(padded))).toEqual(expected)
        expect(plain(scanned(padded, size))).toEqual(expected)
      }),
      { numRuns: 500 },
    )
  })

  test('cuts the text short as is done from its bytes', () => {
    fc.assert(
      fc.property(json, (text) => {
        const bytes = utf8.encode(text)
        const { short, ...read } = readNow(bytes)
        expect(JSON.stringify(outline(bytes, { ...read, ...(short && { short }) }))).toBe(
          JSON.stringify(outline(bytes, read)),
        )
      }),
      { numRuns: 300 },
    )
  })

  const verdictsAre = (text: string, size: number): void => {
    const expected = isJson(text)
    for (const read of [scanned(text), scanned(text, size)])
      expect([text, typeof read === 'string' || !read.faulty]).toEqual([text, expected])
  }

  test('says of any text whether it is JSON', () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), pieceBytes, fc.constantFrom(0, 1_020), (parts, size, ahead) =>
        verdictsAre(' '.repeat(ahead) + parts.join(''), size),
      ),
      { numRuns: 5_000 },
    )
  })

  test('says so of JSON that is cut, or in which anything is removed, added or changed', () => {
    fc.assert(
      fc.property(json, fc.nat(), token, fc.nat(2), pieceBytes, (text, at, other, over, size) => {
        const place = at % (text.length + 1)
        verdictsAre(text.slice(0, place), size)
        verdictsAre(text.slice(0, place) + other + text.slice(place + over), size)
      }),
      { numRuns: 1_000 },
    )
  })

  test('reads past any border between pieces', () => {
    const text = JSON.stringify({
      'na"me\n': [true, false, null, -1.5e-7, 'x\\y\u0001', { a: 'ខ្មែរ' }],
      b: 'x'.repeat(80),
    })
    for (let ahead = 1_024 - text.length - 2; ahead <= 1_024; ahead++) {
      const padded = ' '.repeat(ahead) + text
      expect(plain(scanned(padded, 1_024))).toEqual(plain(surveyed(padded)))
      verdictsAre(padded, 1_024)
      verdictsAre(padded.slice(0, 1_024), 1_024)
    }
  })

  test('reads texts that have more members and long strings than its memory notes at once', () => {
    const members = Array.from({ length: 5_000 }, (_, at) => `"n${at}":["${'x'.repeat(70)}"]`)
    const long = JSON.stringify(Array.from({ length: 40_000 }, () => 'y'.repeat(64)))
    for (const text of [`{${members.join(',')}}`, `{"a":${long},"b":${long}}`])
      expect(plain(scanned(text))).toEqual(plain(surveyed(text)))
  })

  test('is what its source compiles to', async () => {
    const made = await compiledScanner()
    if (made === undefined) console.warn('skipped: the compiler of the scanner is not installed')
    else expect(await Bun.file('src/lib/json-scanner/scanner-wasm.ts').text()).toBe(made)
  })
})

test('a text is read past a byte order mark', () => {
  expect(() => readNow(utf8.encode(`\ufeff${'['.repeat(depth + 1)}`))).toThrow(TooMuchJson)
})
