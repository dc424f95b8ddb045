// A PNG drawn from nothing: a banded gradient whose colours and slope come from the prompt, one byte per pixel.

import { crc32, deflateSync } from 'node:zlib'

const SIGNATURE = Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10)

const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const out = Buffer.alloc(body.length + 8)
  out.writeUInt32BE(data.length, 0)
  body.copy(out, 4)
  out.writeUInt32BE(crc32(body), body.length + 4)
  return out
}

const palette = (seed: number): Uint8Array => {
  const colours = new Uint8Array(256 * 3)
  const phases = [seed % 628, (seed >>> 8) % 628, (seed >>> 16) % 628]
  for (let index = 0; index < 256; index++) {
    phases.forEach((phase, channel) => {
      colours[index * 3 + channel] = Math.round(127.5 + 127.5 * Math.sin((index / 256) * 2 * Math.PI + phase / 100))
    })
  }
  return colours
}

/** `width` and `height` in pixels. The same seed text draws the same picture. */
export const drawPng = (width: number, height: number, seedText: string): Uint8Array => {
  const seed = Bun.hash.crc32(seedText) >>> 0
  const slope = 1 + (seed % 7)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const rows = new Uint8Array((width + 1) * height)
  for (let y = 0; y < height; y++) {
    const start = y * (width + 1)
    for (let x = 0; x < width; x++) {
      rows[start + 1 + x] = ((x * 256) / width + (y * 256 * slope) / height + ((x ^ y) & 16)) & 255
    }
  }
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', palette(seed)),
    chunk('IDAT', deflateSync(rows, { level: 1 })),
    chunk('IEND', new Uint8Array()),
  ])
}
