// A request's body as bytes: what only a limit far from the usual one shows.

import { expect, test } from 'bun:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
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
