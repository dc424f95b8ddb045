// Laws of the frame reader: however the bytes are chunked and lines are ended, the frames are the same.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Frame, FrameReader, FrameTooLarge, writeFrame } from '../../src/lib/sse.ts'

const line = fc.string({ unit: 'binary' }).map((text) => text.replace(/[\r\n\uFEFF]/g, '').toWellFormed())
const frame: fc.Arbitrary<Frame> = fc
  .record({
    event: fc.option(
      line.filter((text) => text !== '' && !text.startsWith(' ')),
      { nil: undefined },
    ),
    data: fc.array(line, { minLength: 1, maxLength: 3 }),
  })
  .map(({ event, data }) => ({ ...(event === undefined ? {} : { event }), data: data.join('\n') }))
  .filter(({ data }) => !/^\s*(?::|$)/.test(data))

const readAll = (bytes: Uint8Array, sizes: number[]): Frame[] => {
  const reader = new FrameReader()
  const frames: Frame[] = []
  let at = 0
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    frames.push(...reader.push(bytes.subarray(at, at + size)))
    at += size
  }
  return [...frames, ...reader.end()]
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })

describe('FrameReader', () => {
  test('reads back what writeFrame wrote, however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(frame), sizes, (frames, cut) => {
        expect(readAll(bytesOf(frames.map(writeFrame).join('')), cut)).toEqual(frames)
      }),
    )
  })

  test.each(['\n', '\r\n', '\r'])(
    'lines may end in %j, with comments, ids, retries and a byte order mark between',
    (end) => {
      fc.assert(
        fc.property(fc.array(frame), sizes, (frames, cut) => {
          const text = frames
            .map((each) => `: hello\nid: 7\nretry: 10\n${writeFrame(each)}: bye\n\n`)
            .join('')
            .replaceAll('\n', end)
          expect(readAll(bytesOf(`\uFEFF${text}`), cut)).toEqual(frames)
        }),
      )
    },
  )

  test('the space after the colon may be missing', () => {
    expect(readAll(bytesOf('event:x\ndata:{"a":1}\n\n'), [3])).toEqual([{ event: 'x', data: '{"a":1}' }])
  })

  test('an event without a name has none', () => {
    expect(readAll(bytesOf('event:\ndata: x\n\nevent\ndata: y\n\n'), [3])).toEqual([{ data: 'x' }, { data: 'y' }])
  })

  test('exactly one leading space is stripped', () => {
    expect(readAll(bytesOf('data:  x\n\n'), [100])).toEqual([{ data: ' x' }])
  })

  test('a last frame without its blank line is delivered at the end', () => {
    expect(readAll(bytesOf('data: a\n\ndata: b'), [4])).toEqual([{ data: 'a' }, { data: 'b' }])
  })

  test('events without data are never dispatched', () => {
    expect(readAll(bytesOf('event: ping\n\n\n\ndata:\n\ndata: x\n\n'), [2])).toEqual([{ data: 'x' }])
  })

  test.each([': still here', ':', ' ', ' : 2', ':\n: 3', 'null', '[]', ' [ ] '])(
    'a sign of life sent as data is none: %j',
    (data) => {
      expect(readAll(bytesOf(`${writeFrame({ data })}data: x\n\n`), [3])).toEqual([{ data: 'x' }])
    },
  )

  test('a field whose name only begins like a known one is dropped', () => {
    expect(readAll(bytesOf('events: a\neventual\ndatas: b\ndatabase\ndata: x\n\n'), [7])).toEqual([{ data: 'x' }])
  })

  test.each(['x\n', 'event\n', 'retry\r\n'])('a million lines %j are read in linear time', (line) => {
    expect(readAll(bytesOf(`${line.repeat(1_000_000)}data: x\n\n`), [Number.MAX_SAFE_INTEGER])).toHaveLength(1)
  })

  test('a line of a million spaces before its data is read in linear time', () => {
    const data = `${' '.repeat(1_000_000)}x`
    expect(readAll(bytesOf(writeFrame({ data })), [Number.MAX_SAFE_INTEGER])).toEqual([{ data }])
  })

  test('an event past the bound is refused, whole or in pieces', () => {
    const reader = new FrameReader(1_000)
    expect(() => {
      for (let i = 0; i < 200; i++) reader.push(bytesOf('data: 0123456789\n'))
    }).toThrow(FrameTooLarge)
    const long = new FrameReader(1_000)
    const lines = () => [1, 2, 3].map(() => long.push(bytesOf(`data: ${'x'.repeat(400)}\n`)))
    expect(lines).toThrow(FrameTooLarge)
    for (const line of ['data:\n', 'data\n', 'data: \r\n'])
      expect(() => new FrameReader(1_000).push(bytesOf(line.repeat(100)))).toThrow(FrameTooLarge)
    expect(() => new FrameReader(10).push(bytesOf('data: a long line without an end'))).toThrow(FrameTooLarge)
  })
})
