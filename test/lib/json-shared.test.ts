// Laws of what requests share: whoever has a member that came before is given what parsing it gives, and can change nothing
// in it for others.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { outline } from '../../src/lib/json-outline.ts'
import { readNow } from '../../src/lib/json-reader.ts'
import { createSharedMembers, type SharedMembers } from '../../src/lib/json-shared.ts'
import { type Bound, JSON_BOUNDS, type Read, TooMuchJson } from '../../src/lib/json-survey.ts'
import { free } from '../../src/lib/memory.ts'
import { atOnce } from '../../src/lib/steps.ts'

const utf8 = new TextEncoder()
const long = (length: number): string => 'y'.repeat(length)
const list = (count: number, say = 'x'): { name: string; text: string }[] =>
  Array.from({ length: count }, (_, at) => ({ name: `n${at}`, text: say.repeat(70) }))

/** What would be parsed of it by itself. */
const noted = (shared: SharedMembers, value: object): Uint8Array<ArrayBuffer> => {
  const bytes = utf8.encode(JSON.stringify(value))
  for (let time = 0; time < 2; time++) atOnce(shared.noting(bytes, () => ({ value, cut: [] })))
  return bytes
}

describe('a member that comes again', () => {
  test('is shared from the second time on, while its bytes are the same', () => {
    const shared = createSharedMembers('tools')
    const value = list(100)
    const bytes = utf8.encode(JSON.stringify(value))
    const note = () => atOnce(shared.noting(bytes, () => ({ value, cut: [] })))
    note()
    expect(shared.find(bytes)).toBeUndefined()
    note()
    expect(shared.find(bytes.slice())?.value).toBe(value)
    for (const at of [1, bytes.length >> 1, bytes.length - 1]) {
      const other = bytes.slice()
      other[at] = 120
      expect(shared.find(other)).toBeUndefined()
    }
  })

  test('is frozen to its last object, and its bytes are a copy', () => {
    const shared = createSharedMembers('tools')
    const value = list(100)
    const bytes = noted(shared, value)
    expect(() => value.push({ name: '', text: '' })).toThrow(TypeError)
    expect(() => {
      for (const each of value) each.name = ''
    }).toThrow(TypeError)
    const same = bytes.slice()
    bytes.fill(0)
    expect(shared.find(same)?.value).toBe(value)
    expect(shared.find(bytes)).toBeUndefined()
  })

  test('is frozen in steps, of which none has more than some thousand objects, before others are given it', () => {
    const shared = createSharedMembers('tools')
    const value = Array.from({ length: 40_000 }, () => ({}))
    const bytes = utf8.encode(JSON.stringify(value))
    const noting = () => shared.noting(bytes, () => ({ value, cut: [] }))
    atOnce(noting())
    let frozen = 0
    for (const _ of noting()) {
      expect(shared.find(bytes)).toBeUndefined()
      const now = value.filter(Object.isFrozen).length
      expect(now - frozen).toBeLessThanOrEqual(2_000)
      frozen = now
    }
    expect(shared.find(bytes)?.value).toBe(value)
    expect(value.every(Object.isFrozen)).toBe(true)
  })

  test('is a copy of its own whatever kind of bytes it came in', () => {
    const shared = createSharedMembers('tools')
    const value = list(1_000)
    const text = JSON.stringify(value)
    for (let time = 0; time < 2; time++) {
      // What is unpacked, and what came in pieces, is a buffer: one that others slice shares its memory.
      const body = Buffer.alloc(text.length + 2, text, 'latin1')
      atOnce(shared.noting(body.subarray(0, text.length), () => ({ value, cut: [] })))
      free(body)
    }
    expect(shared.find(utf8.encode(text))?.bytes).toEqual(utf8.encode(text))
  })

  test('is looked for where it stood in the last text that had it, from either end', () => {
    const shared = createSharedMembers('tools')
    const asked = new TextDecoder().decode(noted(shared, list(100)))
    const at = (before: string, behind: string) => shared.again(utf8.encode(before + asked + behind))?.start
    expect(at('{"tools":', '}')).toBeUndefined()
    const text = utf8.encode(`{"a":1,"tools":${asked},"b":2}`)
    readNow(text, { sharing: shared })
    expect(at('{"a":1,"tools":', ',"b":2}')).toBe(15)
    expect(at('{"a":1,"tools":', ',"b":[2,3]}')).toBe(15)
    expect(at('{"a":[1,2],"tools":', ',"b":2}')).toBe(19)
    expect(at('{"a":[1,2],"tools":', ',"b":[2,3]}')).toBeUndefined()
  })

  test('is forgotten before others take more memory than is set aside', () => {
    const shared = createSharedMembers('tools', 100_000)
    const small = [...'abcdefghijkl'].map((say) => noted(shared, list(120, say)))
    const kept = small.filter((bytes) => shared.find(bytes) !== undefined)
    expect(kept.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThanOrEqual(100_000)
    expect(kept).toContain(small.at(-1) as Uint8Array<ArrayBuffer>)
    expect(shared.find(noted(shared, list(1_000)))).toBeUndefined()
  })
})

describe('an outline', () => {
  const shared = createSharedMembers('tools')
  const tools = list(100)
  noted(shared, tools)
  const asked = JSON.stringify(tools)

  const read = (json: string) => outline(utf8.encode(json), readNow(utf8.encode(json), { sharing: shared }))

  test.each([
    ['first', `{"tools":${asked},"a":["${long(5_000)}"]}`],
    ['last', `{"a":["${long(5_000)}","${long(5_000)}"],"tools":${asked}}`],
    ['between long texts', `{"a":["${long(5_000)}"],\n "tools" : ${asked} ,"b":["${long(5_000)}","z"]}`],
  ])('has nothing of a member that is shared but its place, %s', (_, json) => {
    const { value, cut, shared: found } = read(json)
    const alone = outline(utf8.encode(json.replace(asked, 'null')))
    expect(found?.shared.value).toBe(tools)
    expect(value).toEqual(alone.value)
    const texts = (json: string, cut: ArrayLike<number>) =>
      Array.from({ length: cut.length / 3 }, (_, one) => json.slice(cut[one * 3], cut[one * 3 + 2]))
    expect(texts(json, cut)).toEqual(texts(json.replace(asked, 'null'), alone.cut))
  })

  test.each([
    ['that is written twice', `{"tools":${asked},"a":["${long(5_000)}"],"tools":[]}`],
    ['whose name may be written in escapes as well', `{"tools":${asked},"a":["${long(5_000)}"],"t\\u006fols":[]}`],
    ['within another', `{"a":{"tools":${asked}}}`],
    ['with a space more', `{"a":["${long(5_000)}"],"tools":${asked.replace(',', ', ')}}`],
  ])('shares no member %s', (_, json) => {
    const { value, shared: found } = read(json)
    expect(found).toBeUndefined()
    expect(value).toEqual(outline(utf8.encode(json)).value)
  })
})

/** What is found, or the bound that is exceeded; as data that is compared. */
const found = (json: string, sharing?: SharedMembers): unknown => {
  try {
    const read: Read = readNow(utf8.encode(json), { sharing })
    return { ...read, cut: [...(read.cut as Uint32Array)], ...(read.faulty && { members: [], open: -1 }) }
  } catch (error) {
    if (error instanceof TooMuchJson) return error.bound
    throw error
  }
}

/** Read by those who have it for the first time, and once more, where it is known to stand. */
const readTwice = (tools: object, json: string): { first: unknown; again: unknown; isKnown: boolean } => {
  const shared = createSharedMembers('tools')
  const asked = noted(shared, tools)
  const first = found(json, shared)
  const place = json.indexOf(new TextDecoder().decode(asked))
  const standing = shared.find(asked)
  if (standing !== undefined)
    shared.stands({ shared: standing, start: place, end: place + asked.length }, utf8.encode(json))
  const isKnown = shared.again(utf8.encode(json)) !== undefined
  const again = found(json, shared)
  return { first, again, isKnown }
}

describe('a text with a member that is known to stand in it', () => {
  const tools = list(60).map((one, at) => ({ ...one, at: at % 3 === 0 ? [at, { deep: `\\"${at}` }] : at }))
  const asked = JSON.stringify(tools)
  const ascii = fc.string({ unit: 'grapheme-ascii', maxLength: 8 })
  const member = fc.tuple(
    fc.constantFrom('a', 'b', 'tool', 'toolss', 'model'),
    fc.oneof(fc.jsonValue({ stringUnit: 'grapheme-ascii' }), fc.constantFrom(long(70), [long(5_000), long(80)], tools)),
  )
  const members = fc
    .array(member, { maxLength: 4 })
    .map((all) => all.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`))
  const body = fc
    .tuple(members, members, fc.constantFrom('"tools":', '"tools" :\n ', '"t\\u006fols":', '"other":'))
    .map(([before, behind, name]) => `{${[...before, name + asked, ...behind].join(', ')}} `)

  test('is read as if it were not', () => {
    fc.assert(
      fc.property(body, (json) => {
        const { first, again, isKnown } = readTwice(tools, json)
        expect(isKnown).toBe(true)
        expect(again).toEqual(first)
      }),
      { numRuns: 300 },
    )
  })

  test('is told from what is no JSON as ever', () => {
    fc.assert(
      fc.property(body, fc.nat(), ascii, fc.nat(2), (json, at, other, over) => {
        const place = at % (json.length + 1)
        const changed = json.slice(0, place) + other + json.slice(place + over)
        if (!changed.includes(asked)) return
        const { first, again } = readTwice(tools, changed)
        expect(again).toEqual(first)
      }),
      { numRuns: 1_000 },
    )
  })

  const { containers, values } = JSON_BOUNDS
  const of = <T>(count: number, one: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => one(at))
  test.each<[Bound, object, (size: number) => unknown, number, number]>([
    ['containers', of(40_000, () => []), (size) => of(size, () => []), containers - 40_003, 1],
    ['values', of(50_000, () => 1), (size) => of(size, () => 1), values - 50_002, 1],
    // Some are taken for others.
    ['forms', of(5_000, (at) => ({ [`n${at}`]: 1 })), (size) => of(size, (at) => ({ [`m${at}`]: 1 })), 4_900, 1_000],
  ])('keeps the bound of %s', (bound, tools, rest, most, past) => {
    const read = (size: number) => readTwice(tools, JSON.stringify({ tools, a: rest(size) }))
    const within = read(most)
    expect(within).toMatchObject({ first: { faulty: false }, isKnown: true })
    expect(within.again).toEqual(within.first)
    expect(read(most + past)).toEqual({ first: bound, again: bound, isKnown: true })
  })

  test('holds each form of object once, wherever it stands', () => {
    const tools = of(6_000, (at) => ({ [`n${at}`]: 1 }))
    const { first, again } = readTwice(tools, JSON.stringify({ tools, a: tools }))
    expect(first).toBeObject()
    expect(again).toEqual(first)
  })
})
