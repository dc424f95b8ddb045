// Laws of what requests share: whoever has a member that came before is given what parsing it gives, and can change nothing
// in it for others.

import { describe, expect, test } from 'bun:test'
import { outline } from '../../src/lib/json-outline.ts'
import { readNow } from '../../src/lib/json-reader.ts'
import { createSharedMembers, type SharedMembers } from '../../src/lib/json-shared.ts'
import { free } from '../../src/lib/memory.ts'

const utf8 = new TextEncoder()
const list = (count: number, say = 'x'): { name: string; text: string }[] =>
  Array.from({ length: count }, (_, at) => ({ name: `n${at}`, text: say.repeat(70) }))

/** What would be parsed of it by itself. */
const noted = (shared: SharedMembers, value: object): Uint8Array<ArrayBuffer> => {
  const bytes = utf8.encode(JSON.stringify(value))
  for (let time = 0; time < 2; time++) shared.note(bytes, () => ({ value, cut: [] }))
  return bytes
}

describe('a member that comes again', () => {
  test('is shared from the second time on, while its bytes are the same', () => {
    const shared = createSharedMembers('tools')
    const value = list(100)
    const bytes = utf8.encode(JSON.stringify(value))
    const note = () => shared.note(bytes, () => ({ value, cut: [] }))
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

  test('is a copy of its own whatever kind of bytes it came in', () => {
    const shared = createSharedMembers('tools')
    const value = list(1_000)
    const text = JSON.stringify(value)
    for (let time = 0; time < 2; time++) {
      // What is unpacked, and what came in pieces, is a buffer: one that others slice shares its memory.
      const body = Buffer.alloc(text.length + 2, text, 'latin1')
      shared.note(body.subarray(0, text.length), () => ({ value, cut: [] }))
      free(body)
    }
    expect(shared.find(utf8.encode(text))?.bytes).toEqual(utf8.encode(text))
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
  const long = 'y'.repeat(5_000)

  const read = (json: string) => outline(utf8.encode(json), readNow(utf8.encode(json), { sharing: shared }))

  test.each([
    ['first', `{"tools":${asked},"a":["${long}"]}`],
    ['last', `{"a":["${long}","${long}"],"tools":${asked}}`],
    ['between long texts', `{"a":["${long}"],\n "tools" : ${asked} ,"b":["${long}","z"]}`],
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
    ['that is written twice', `{"tools":${asked},"a":["${long}"],"tools":[]}`],
    ['whose name may be written in escapes as well', `{"tools":${asked},"a":["${long}"],"t\\u006fols":[]}`],
    ['within another', `{"a":{"tools":${asked}}}`],
    ['with a space more', `{"a":["${long}"],"tools":${asked.replace(',', ', ')}}`],
  ])('shares no member %s', (_, json) => {
    const { value, shared: found } = read(json)
    expect(found).toBeUndefined()
    expect(value).toEqual(outline(utf8.encode(json)).value)
  })
})
