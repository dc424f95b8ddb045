// Reading a provider's answer: decompressed in small pieces, so that it is given up at its bound whatever it expands to.

import { describe, expect, test } from 'bun:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { answerBody, readText } from '../../src/relay/answer-text.ts'

const MEGABYTE = 1024 * 1024

const answer = (packed: Uint8Array<ArrayBuffer>, coding: string): Response =>
  new Response(new Blob([packed]).stream(), { headers: { 'content-encoding': coding } })

describe.each([
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['GZIP', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const)('an answer compressed as %s', (coding, pack) => {
  test('is read', async () => {
    expect(await readText(answer(pack('{"a":1}'), coding), MEGABYTE, new AbortController())).toBe('{"a":1}')
  })

  test('is decompressed as it is read, and given up at the bound', async () => {
    const packed = pack(Buffer.alloc(16 * MEGABYTE))
    const sizes: number[] = []
    const body = await answerBody(answer(packed, coding), new AbortController())
    for (let piece = await body?.read(); piece?.value !== undefined; piece = await body?.read())
      sizes.push(piece.value.byteLength)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(16 * MEGABYTE)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MEGABYTE)
    const abort = new AbortController()
    const reading = readText(answer(packed, coding), MEGABYTE, abort)
    expect(await reading.catch((error) => error.code)).toBe('upstream_error')
    expect(abort.signal.aborted).toBe(true)
  })

  test('and cut is a broken one', async () => {
    const packed = pack('{"a":1}').subarray(0, -3)
    const reading = readText(answer(packed, coding), MEGABYTE, new AbortController())
    expect(await reading.catch((error) => error.code)).toBe('upstream_error')
  })
})

test('an answer in a coding nobody knows, or in none, is read as it is', async () => {
  for (const coding of ['identity', '', 'constructor', 'lzma']) {
    expect(await readText(answer(Buffer.from('text'), coding), MEGABYTE, new AbortController())).toBe('text')
  }
})

describe('what is compressed is told by its bytes', () => {
  const text = `{"choices":[{"message":{"content":"${'Hi there. '.repeat(20)}"}}]}`
  const read = (packed: Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
    readText(new Response(new Blob([packed]).stream(), { headers }), MEGABYTE, new AbortController())

  test.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const)('%s whose header a cache has lost is read', async (_, pack) => {
    const packed = pack(text)
    expect(await read(packed, {})).toBe(text)
    expect(await read(packed, { 'content-length': `${packed.byteLength}` })).toBe(text)
    expect(await read(packed, { 'content-encoding': 'identity' })).toBe(text)
  })

  test.each(['gzip', 'deflate', 'br', 'zstd'])('text that a relay still calls %s is read', async (coding) => {
    expect(await read(Buffer.from(text), { 'content-encoding': coding })).toBe(text)
    expect(await read(Buffer.from('data: {"a":1}\n\n'), { 'content-encoding': coding })).toBe('data: {"a":1}\n\n')
  })

  test.each([
    ['that a relay still calls gzip', Buffer.from(text), 'gzip'],
    ['that a relay still calls br', Buffer.from(text), 'br'],
    ['packed by gzip, whose header a cache has lost,', gzipSync(text), 'identity'],
    ['packed by zstd, whose header a cache has lost,', zstdCompressSync(text), 'identity'],
    ['packed by br', brotliCompressSync(text), 'br'],
  ])('text %s is read where it comes byte by byte', async (_, bytes, coding) => {
    const pieces = [...bytes].map((byte) => Uint8Array.of(byte))
    const pull = (to: ReadableStreamDefaultController<Uint8Array>): void => {
      const piece = pieces.shift()
      if (piece === undefined) to.close()
      else to.enqueue(piece)
    }
    const slow = new Response(new ReadableStream({ pull }), { headers: { 'content-encoding': coding } })
    expect(await readText(slow, MEGABYTE, new AbortController())).toBe(text)
  })

  test('a bomb without a header is given up at the bound', async () => {
    const packed = gzipSync(Buffer.alloc(16 * MEGABYTE))
    const reading = read(packed, { 'content-length': `${packed.byteLength}` })
    expect(await reading.catch((error) => error.code)).toBe('upstream_error')
  })
})

describe('a connection that breaks off', () => {
  const broken = (text: string): Response => {
    const pieces = [text, undefined]
    const pull = (to: ReadableStreamDefaultController<Uint8Array>): void => {
      const piece = pieces.shift()
      if (piece === undefined) to.error(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
      else to.enqueue(Buffer.from(piece))
    }
    return new Response(new ReadableStream({ pull }))
  }

  test('behind the end of an answer takes nothing from it', async () => {
    expect(await readText(broken('{"a":1}\n'), MEGABYTE, new AbortController())).toBe('{"a":1}\n')
  })

  test.each(['{"a":1', '', '12'])('within one fails it: %j', async (text) => {
    const reading = readText(broken(text), MEGABYTE, new AbortController())
    expect(await reading.catch((error) => error.code)).toBe('upstream_error')
  })

  test('because the call was given up fails it', async () => {
    const abort = new AbortController()
    abort.abort()
    const reading = readText(broken('{"a":1}'), MEGABYTE, abort)
    expect(await reading.catch((error) => error.code)).toBe('upstream_error')
  })
})
