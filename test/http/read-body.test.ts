// A request's body as bytes: what only a limit far from the usual one shows.

import { expect, test } from 'bun:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import type { GatewayError } from '../../src/errors.ts'
import { readBody } from '../../src/http/read-body.ts'

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
])('a body compressed as %s is decompressed under a limit larger than any buffer', async (coding, pack) => {
  const packed = new Request('http://gateway/', {
    method: 'POST',
    body: new Uint8Array(pack('{}')),
    headers: { 'content-encoding': coding },
  })
  expect(new TextDecoder().decode(await readBody(packed, 2 ** 40))).toBe('{}')
})

test('a body that stops coming is given up early where others need its place, with a word to come again', async () => {
  const stuck = () =>
    new Request('http://gateway/', { method: 'POST', body: new ReadableStream({ start: (out) => out.enqueue(PIECE) }) })
  const reading = readBody(stuck(), 2 ** 20, 60_000, { hurried: () => true })
  expect(await codeOf(reading)).toBe('service_unavailable')
  expect(await codeOf(readBody(stuck(), 2 ** 20, 10, { hurried: () => false }))).toBe('invalid_request')
})

const PIECE = new TextEncoder().encode('{')
const codeOf = (reading: Promise<unknown>): Promise<string> =>
  reading.then(
    () => 'read',
    (error: GatewayError) => error.code,
  )

test.each([
  ['100-Continue', 'Leave it out'],
  ['100-continue', 'Send the request again'],
])('a body that does not come is told of Expect: %s where that is why', async (value, words) => {
  const waiting = new Request('http://gateway/', {
    method: 'POST',
    headers: { expect: value },
    body: new ReadableStream({ start: (out) => out.enqueue(PIECE) }),
  })
  const error: GatewayError = await readBody(waiting, 2 ** 20, 10).then(
    () => Promise.reject(new Error('it came')),
    (thrown) => thrown,
  )
  expect(error.message).toContain(words)
})
