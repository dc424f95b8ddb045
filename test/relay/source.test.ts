// How a provider's body begins: told by its first byte that means something, however the bytes are cut. And how it is read:
// in turns, with room for an event until it is complete.

import { describe, expect, test } from 'bun:test'
import { ANSWER_BOUNDS } from '../../src/relay/answer-bounds.ts'
import type { Room } from '../../src/relay/room.ts'
import { beginning, type Reader, readFrom } from '../../src/relay/source.ts'
import type { Tap } from '../../src/wire/codec.ts'
import { openNotes } from '../../src/wire/pass.ts'

const BOM = [0xef, 0xbb, 0xbf]
const CUTS = Array.from({ length: 10 }, (_, at) => at + 1)

const cutAt = (at: number, text: string): Reader => {
  const bytes = Uint8Array.from([...BOM, ...Buffer.from(text)])
  return new ReadableStream<Uint8Array>({
    start: (to) => {
      to.enqueue(bytes.subarray(0, at))
      to.enqueue(bytes.subarray(at))
      to.close()
    },
  }).getReader()
}

const tapOf = (): Tap => Object.assign(openNotes(), { see: ({ data }: { data: string }) => `${data} `, fail: () => '' })

/** Room of so many bytes for one answer. */
const roomOf = (most: number) => {
  let taken = 0
  const room: Room = {
    take(had, more) {
      expect(had).toBe(taken)
      if (taken + more > most) return false
      taken += more
      return true
    },
    give(back) {
      taken -= back
    },
  }
  return { room, taken: () => taken }
}

test.each(CUTS)('a stream behind a byte order mark keeps its first event, cut after %d bytes', async (at) => {
  const [reader, abort] = [cutAt(at, 'data: one\n\ndata: two\n\n'), new AbortController()]
  const { chunk, isWhole } = await beginning(reader, abort)
  expect(isWhole).toBe(false)
  const source = readFrom(reader, tapOf(), { chunk, abort, room: roomOf(0).room })
  let text = ''
  for (let read = await source.read(); read !== undefined; read = await source.read()) text += read
  expect(text).toBe('one two ')
})

test.each(CUTS)('a whole answer behind a byte order mark is one, cut after %d bytes', async (at) => {
  const { isWhole } = await beginning(cutAt(at, '{"error":{}}'), new AbortController())
  expect(isWhole).toBe(true)
})

test('what has piled up is read in pieces, between which others have their turn', async () => {
  const frames = Array.from({ length: 20_000 }, (_, at) => `data: ${at}\n\n`)
  const reader: Reader = new ReadableStream<Uint8Array>({ start: (to) => to.close() }).getReader()
  const source = readFrom(reader, tapOf(), {
    chunk: Buffer.from(frames.join('')),
    abort: new AbortController(),
    room: roomOf(0).room,
  })
  let others = 0
  let over = false
  const other = (): void => {
    others++
    if (!over) setImmediate(other)
  }
  setImmediate(other)
  const pieces: string[] = []
  for (let read = await source.read(); read !== undefined; read = await source.read()) pieces.push(String(read))
  over = true
  expect(pieces.length).toBeGreaterThan(3)
  expect(others).toBeGreaterThanOrEqual(pieces.length - 2)
  expect(pieces.join('').split(' ')).toHaveLength(frames.length + 1)
})

test.each([
  ['TypeError', new TypeError('ours'), { name: 'TypeError' }],
  ['RangeError', new RangeError('too deep'), { code: 'upstream_error' }],
])('a tap that throws is no failure of the connection: %s', async (_, thrown, expected) => {
  const see = () => {
    throw thrown
  }
  const abort = new AbortController()
  const source = readFrom(
    cutAt(1, ''),
    { ...tapOf(), see },
    { chunk: Buffer.from('data: one\n\n'), abort, room: roomOf(0).room },
  )
  await expect(source.read()).rejects.toMatchObject(expected)
})

describe('a long event', () => {
  const MB = 1024 * 1024
  /** One of so many bytes, in pieces of half a megabyte. */
  const long = (bytes: number, most: number, end = '\n\n') => {
    const pieces = ['data: ', ...Array.from({ length: (2 * bytes) / MB }, () => 'x'.repeat(MB / 2)), end]
    const reader = new ReadableStream<Uint8Array>({
      pull: (to) => {
        const piece = pieces.shift()
        if (piece === undefined) to.close()
        else to.enqueue(Buffer.from(piece))
      },
    }).getReader()
    const abort = new AbortController()
    const { room, taken } = roomOf(most)
    return { abort, source: readFrom(reader, tapOf(), { chunk: undefined, abort, room }), taken }
  }

  test('takes room until it is complete', async () => {
    const { source, taken } = long(4 * MB, 5 * MB)
    let most = 0
    let text = await source.read()
    for (; text === ''; text = await source.read()) most = Math.max(most, taken())
    expect(text).toHaveLength(4 * MB + 1)
    expect([most > 3 * MB, taken()]).toEqual([true, 0])
  })

  test('takes none for the beginning of the next', async () => {
    const { source, taken } = long(4 * MB, 5 * MB, '\n\ndata: y')
    while ((await source.read()) === '');
    expect(taken()).toBe(0)
  })

  test('that there is no room for ends the call', async () => {
    const { source, abort, taken } = long(4 * MB, 2 * MB)
    const reading = async (): Promise<void> => {
      while ((await source.read()) === '');
    }
    await expect(reading()).rejects.toMatchObject({ code: 'service_unavailable', failover: false })
    expect([abort.signal.aborted, taken()]).toEqual([true, 0])
  })

  test('gives its room back when the call ends, and when its stream does', async () => {
    const left = long(4 * MB, 5 * MB)
    while (left.taken() <= MB) await left.source.read()
    left.abort.abort()
    expect(left.taken()).toBe(0)
    const cut = long(4 * MB, 5 * MB, '')
    while ((await cut.source.read()) === '');
    expect(cut.taken()).toBe(0)
  })

  /** Of a stream that is translated: the same one, again and again. */
  const pictures = (times: number) => {
    const event = Buffer.from(`data: {"picture":"iVBORw0KGgo${'A'.repeat(4 * MB)}"}\n\n`)
    let left = times
    const reader: Reader = new ReadableStream<Uint8Array>({
      pull: (to) => {
        if (left-- > 0) to.enqueue(event)
        else to.close()
      },
    }).getReader()
    const abort = new AbortController()
    const { room, taken } = roomOf(Number.POSITIVE_INFINITY)
    return { abort, source: readFrom(reader, tapOf(), { chunk: undefined, abort, room, unread: 'pictures' }), taken }
  }
  const readAll = async (source: ReturnType<typeof pictures>['source'], each: () => void): Promise<void> => {
    while ((await source.read()) !== undefined) each()
  }

  test('takes room for its pictures as long as they are held', async () => {
    const { source, taken } = pictures(5)
    let most = 0
    await readAll(source, () => {
      most = Math.max(most, taken())
    })
    expect([most > 14 * MB, taken()]).toEqual([true, 0])
  })

  test('ends the call with one picture too many for all of its stream', async () => {
    const { source, abort, taken } = pictures(1_000)
    const most = ANSWER_BOUNDS.pictures + 8 * MB
    await expect(readAll(source, () => expect(taken()).toBeLessThan(most))).rejects.toMatchObject({
      code: 'upstream_error',
    })
    expect([abort.signal.aborted, taken()]).toEqual([true, 0])
  })
})
