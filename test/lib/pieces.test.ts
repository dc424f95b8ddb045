// Bytes put together where they are sent.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { bodyOf, forNow, Pieces, type Sent, textOf } from '../../src/lib/pieces.ts'

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

describe('a large body', () => {
  const text = 'ខ្មែរ and more '.repeat(40_000)
  const bytes = new TextEncoder().encode(text)
  const forms: [string, Sent][] = [
    ['a text', text],
    ['bytes', bytes],
    [
      'pieces',
      new Pieces([bytes.subarray(0, 3), bytes.subarray(3, 300_001), new Uint8Array(), bytes.subarray(300_001)]),
    ],
  ]

  test.each(forms)(
    'of %s is given to the runtime a part at a time, and arrives whole with its length',
    async (_, sent) => {
      const server = Bun.serve({
        ...{ port: 0, hostname: '127.0.0.1' },
        fetch: async (request) =>
          Response.json({
            length: request.headers.get('content-length'),
            coding: request.headers.get('transfer-encoding'),
            whole: (await request.text()) === text,
          }),
      })
      try {
        // Asked for again, it is sent again.
        for (let times = 0; times < 2; times++) {
          const { body, headers } = bodyOf(sent)
          expect(body).toBeInstanceOf(ReadableStream)
          const answer = await fetch(server.url, { method: 'POST', body, headers })
          expect(await answer.json()).toEqual({ length: String(bytes.byteLength), coding: null, whole: true })
        }
      } finally {
        await server.stop(true)
      }
    },
  )

  test('is given up where its provider answers before it has read it all, and leaves when its client does', async () => {
    const open = Promise.withResolvers<void>()
    const server = Bun.listen<undefined>({
      ...{ port: 0, hostname: '127.0.0.1' },
      socket: {
        data(socket, data) {
          socket.pause()
          if (data.toString('latin1', 0, 20).includes('/refuse'))
            socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno')
          else open.resolve()
        },
      },
    })
    // More than any connection takes on its own.
    const { headers } = bodyOf(new Uint8Array(50_000_000))
    const ask = (path: string, signal?: AbortSignal) =>
      fetch(`http://127.0.0.1:${server.port}/${path}`, {
        ...{ method: 'POST', headers, body: bodyOf(new Uint8Array(50_000_000)).body },
        ...(signal && { signal }),
      })
    try {
      const refused = await ask('refuse')
      expect([refused.status, await refused.text()]).toEqual([413, 'no'])
      const leaving = new AbortController()
      const left = ask('silent', leaving.signal).catch((error) => error)
      await open.promise
      leaving.abort(new Error('gone'))
      expect(await left).toEqual(new Error('gone'))
    } finally {
      server.stop(true)
    }
  })

  test('that is not so large is given whole: that costs less, and little is held', () => {
    expect(bodyOf(new Pieces([bytes.subarray(0, 60_000)]))).toEqual({ body: bytes.subarray(0, 60_000), headers: {} })
    expect(bodyOf('{}')).toEqual({ body: '{}', headers: {} })
  })
})
