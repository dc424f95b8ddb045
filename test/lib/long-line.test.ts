// Laws of long lines: whatever is put aside of an event and however its bytes are cut, with the bytes in place of the marks
// it is the event that a plain reader gives; and how little of it is read.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { seenOf } from '../../src/lib/json-mark.ts'
import { PutAside } from '../../src/lib/json-marked.ts'
import type { Aside } from '../../src/lib/long-line.ts'
import { textOf } from '../../src/lib/pieces.ts'
import { type Frame, FrameReader, FrameTooLarge } from '../../src/lib/sse.ts'

const KB = 1024
const MB = 1024 * KB
const MOST = 64 * MB

const asideIn = (put: PutAside, takes: Aside['takes'] = () => true, mostRead = 8 * MB): Aside => ({
  mostRead,
  takes,
  put: (rest) => put.put(rest),
})

const read = (reader: FrameReader, bytes: Uint8Array, cuts: readonly number[]): Frame[] => {
  const frames: Frame[] = []
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = cuts[turn % cuts.length] ?? 1
    frames.push(...reader.push(bytes.subarray(at, at + size)))
    at += size
  }
  return [...frames, ...reader.end()]
}

const piece = fc.constantFrom('word ', '"', '\\', '\n', '\u007f', 'ខ្មែរ', '😀', 'é', '\u2028', '{"a":[', '\ud83d')
const long = fc
  .tuple(fc.array(piece, { minLength: 1, maxLength: 9 }), fc.integer({ min: 1, max: 300 * KB }))
  .map(([pieces, length]) => {
    const text = pieces.join('')
    return text.repeat(Math.ceil(length / text.length))
  })
const data = fc.tuple(fc.array(long, { maxLength: 4 }), long, fc.boolean()).map(([texts, name, plain]) => {
  const value = { type: 'x', texts, [name.slice(0, 70 * KB)]: 1, last: 'y'.repeat(MB + 5), more: ['z', texts[0] ?? 0] }
  return plain ? JSON.stringify(value) : `{"type": "not JSON", "open: ${'q'.repeat(MB)}`
})
const end = fc.constantFrom('\n\n', '\r\n\r\n', '\r\r')
const cuts = fc.array(fc.integer({ min: 5, max: 200 * KB }), { minLength: 1, maxLength: 5 })

describe('a long event', () => {
  test('is the same with what was put aside in its place, and so is what follows', () => {
    fc.assert(
      fc.property(data, end, cuts, fc.boolean(), (given, ended, sizes, isLast) => {
        const text = `event: x${ended[0]}data: ${given}${isLast ? '' : ended}data: {"behind":"it"}${ended}`
        const bytes = new TextEncoder().encode(text)
        const put = new PutAside(false)
        const frames = read(new FrameReader(MOST, asideIn(put)), bytes, sizes)
        expect(
          frames.map((frame) => ({ ...frame, data: textOf(put.written(frame.data) ?? 'a mark is broken') })),
        ).toEqual(read(new FrameReader(MOST), bytes, sizes))
      }),
      { numRuns: 60 },
    )
  })

  const eventOf = (length: number): Uint8Array =>
    new TextEncoder().encode(`data: ${JSON.stringify({ a: 'x'.repeat(length), b: 'short' })}\n\n`)

  test('is read as far as the beginnings of its long strings, whatever its size', () => {
    for (const size of [3 * MB, 30 * MB]) {
      const put = new PutAside(false)
      const [frame] = read(new FrameReader(MOST, asideIn(put)), eventOf(size), [64 * KB])
      expect(frame?.data.length).toBeLessThan(5 * KB)
    }
  })

  test('has none of it copied: what stands in place of a mark is what came', () => {
    const bytes = eventOf(3 * MB)
    const put = new PutAside(false)
    const [frame] = read(new FrameReader(MOST, asideIn(put)), bytes, [64 * KB])
    const pieces = put.written(frame?.data ?? '')?.all ?? []
    const came = pieces.filter(({ buffer }) => buffer === bytes.buffer)
    expect(came.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeGreaterThan(3 * MB - MB - 100 * KB)
  })

  test('holds nothing put aside any more once it is written, where it is written once', () => {
    const put = new PutAside(true)
    const [frame] = read(new FrameReader(MOST, asideIn(put)), eventOf(3 * MB), [64 * KB])
    expect(put.written(frame?.data ?? '')?.length).toBeGreaterThan(3 * MB)
    expect(put.written(frame?.data ?? '')?.length).toBeLessThan(5 * KB)
  })

  test('that has more to read than may be read is too large, also in strings that are not put aside', () => {
    const reader = new FrameReader(
      MOST,
      asideIn(new PutAside(false), () => false, 2 * MB),
    )
    expect(() => read(reader, eventOf(3 * MB), [64 * KB])).toThrow(FrameTooLarge)
    const many = new FrameReader(
      MOST,
      asideIn(new PutAside(false), () => true, 2 * MB),
    )
    const short = new TextEncoder().encode(`data: ${JSON.stringify(Array(100_000).fill('x'.repeat(30)))}\n\n`)
    expect(() => read(many, short, [64 * KB])).toThrow(FrameTooLarge)
  })

  test('counts what was put aside as held, and is bounded with it', () => {
    const reader = new FrameReader(4 * MB, asideIn(new PutAside(false)))
    let most = 0
    const bytes = eventOf(3 * MB)
    for (let at = 0; at < bytes.length; at += 64 * KB) {
      reader.push(bytes.subarray(at, at + 64 * KB))
      most = Math.max(most, reader.held)
    }
    expect([most > 2.9 * MB, reader.held]).toEqual([true, 0])
    expect(() => read(reader, eventOf(5 * MB), [64 * KB])).toThrow(FrameTooLarge)
  })
})

test('a string that was put aside tells how much of it is hidden; no other does', () => {
  const put = new PutAside(false)
  expect(seenOf(`seen${put.put([Buffer.from('hidden'), Buffer.from(' bytes')])}`)).toEqual({ seen: 'seen', hidden: 12 })
  for (const text of ['', 'a', 'a\u007f', '\u007f1.2\u007f']) expect(seenOf(text)).toBeUndefined()
})
