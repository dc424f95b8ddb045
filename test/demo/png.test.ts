// Pictures drawn by the demo vendor.

import { describe, expect, test } from 'bun:test'
import { crc32, inflateSync } from 'node:zlib'
import { drawPng } from '../../src/demo/png.ts'

type Chunk = { type: string; data: Buffer; sound: boolean }

const chunksOf = (png: Uint8Array): Chunk[] => {
  const bytes = Buffer.from(png)
  const chunks: Chunk[] = []
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const body = bytes.subarray(at + 4, at + 8 + length)
    const sound = crc32(body) === bytes.readUInt32BE(at + 8 + length)
    chunks.push({ type: body.toString('latin1', 0, 4), data: body.subarray(4), sound })
    at += 12 + length
  }
  return chunks
}

describe('a drawn picture', () => {
  test.each([
    [1, 1],
    [31, 17],
    [256, 128],
    [1024, 1024],
  ])('of %i by %i pixels is a sound PNG of that size', (width, height) => {
    const png = drawPng(width, height, 'a lighthouse')
    expect(Buffer.from(png.subarray(0, 8)).toString('hex')).toBe('89504e470d0a1a0a')
    const chunks = chunksOf(png)
    expect(chunks.map((chunk) => chunk.type)).toEqual(['IHDR', 'PLTE', 'IDAT', 'IEND'])
    expect(chunks.every((chunk) => chunk.sound)).toBe(true)
    const [header, palette, pixels] = chunks
    expect([header?.data.readUInt32BE(0), header?.data.readUInt32BE(4)]).toEqual([width, height])
    expect(palette?.data.length).toBe(768)
    const rows = inflateSync(pixels?.data ?? Buffer.alloc(0))
    expect(rows.length).toBe((width + 1) * height)
    expect(Array.from({ length: height }, (_, y) => rows[y * (width + 1)])).toEqual(Array(height).fill(0))
  })

  test('depends on its prompt alone', () => {
    expect(Buffer.from(drawPng(64, 64, 'one')).equals(drawPng(64, 64, 'one'))).toBe(true)
    expect(Buffer.from(drawPng(64, 64, 'one')).equals(drawPng(64, 64, 'two'))).toBe(false)
  })
})
