// Bytes put together where they are sent.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { forNow, Pieces, textOf } from '../../src/lib/pieces.ts'

const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 })

test('pieces are all that they are made of, however often they are asked for, and whatever is asked for between', () => {
  fc.assert(
    fc.property(pieces, pieces, (one, other) => {
      const [made, next] = [new Pieces(one), new Pieces(other)]
      const whole = Buffer.concat(one)
      expect(made.length).toBe(whole.length)
      const copy = made.copied()
      expect(Buffer.from(made.forNow())).toEqual(whole)
      next.forNow()
      expect(Buffer.from(copy)).toEqual(whole)
      expect(Buffer.from(made.forNow())).toEqual(whole)
    }),
  )
})

test('large ones have memory of their own', () => {
  const half = new Uint8Array(600_000).fill(97)
  const [made, next] = [new Pieces([half, half]), new Pieces([half.fill(98), half])]
  const first = made.forNow()
  expect(next.forNow().buffer).not.toBe(first.buffer)
})

test('what is sent is a text, bytes or pieces of them', () => {
  const bytes = new TextEncoder().encode('ខ្មែរ')
  expect(['ខ្មែរ', bytes, new Pieces([bytes.subarray(0, 4), bytes.subarray(4)])].map(textOf)).toEqual(
    Array(3).fill('ខ្មែរ'),
  )
})

test('the runtime has copied what it sends once fetch has returned', async () => {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => new Response(await request.text()),
  })
  try {
    const answers = [10, 300_000, 900_000].map((size) => {
      const body = forNow(new Pieces([new Uint8Array(size).fill(97)]))
      const answer = fetch(server.url, { method: 'POST', body })
      forNow(new Pieces([new Uint8Array(1_000_000).fill(98)]))
      return answer.then(async (response) => (await response.text()) === 'a'.repeat(size))
    })
    expect(await Promise.all(answers)).toEqual([true, true, true])
  } finally {
    await server.stop(true)
  }
})
