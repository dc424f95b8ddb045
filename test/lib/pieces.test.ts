// Bytes put together where they are sent.

import { heapStats } from 'bun:jsc'
import { describe, expect, test } from 'bun:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { bodyOf, forNow, PART_BYTES, Pieces, type Sent, textOf } from '../../src/lib/pieces.ts'

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

/** What the runtime holds for each answer that is read and has fallen silent after its first event, by its own account. */
const readInto = async (answers: number): Promise<number> => {
  const silent = (): Response =>
    new Response(new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode('data: begun\n\n')) }))
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: silent })
  try {
    const held = (): number => {
      Bun.gc(true)
      return heapStats().extraMemorySize
    }
    const before = held()
    const readers = await Promise.all(
      Array.from({ length: answers }, async () => {
        const reader = (await fetch(server.url)).body?.getReader()
        await reader?.read()
        void reader?.read().catch(() => undefined)
        return reader
      }),
    )
    const each = (held() - before) / answers
    for (const reader of readers) await reader?.cancel()
    return each
  } finally {
    await server.stop(true)
  }
}

test('the parts of a large body are of another size than what answers are read into, by far', async () => {
  // What is let go of meanwhile, of tests before this one, makes it less.
  const seen: number[] = []
  for (let round = 0; round < 3; round++) seen.push(await readInto(20))
  // The allocator's own steps are a quarter at most.
  expect(PART_BYTES * 1.25).toBeLessThan(Math.max(...seen))
})

type Reading = { later?: boolean; never?: boolean }

/** A server that answers each request once it has its head; `later`, `never`: when it reads on. */
const startEager = async ({ later = false, never = false }: Reading) => {
  const both = Promise.withResolvers<void>()
  let heads = 0
  let wanted = Number.POSITIVE_INFINITY
  const server = createServer((request, response) => {
    if (++heads >= wanted) both.resolve()
    const isWhole = request.url === '/refuse'
    if (request.url !== '/silent') {
      response.writeHead(isWhole ? 429 : 200, isWhole ? { 'content-length': 2 } : {})
      response.write(isWhole ? 'no' : 'begun')
    }
    if (isWhole) response.end()
    if (request.url === '/stream') setImmediate(() => response.end(' ended'))
    if (later) setImmediate(() => request.resume())
    else if (!never) request.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: (count: number): Promise<void> => {
      wanted = count
      if (heads >= wanted) both.resolve()
      return both.promise
    },
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

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

  test.each<[string, object]>([
    ['reads on', {}],
    ['reads on later', { later: true }],
    ['reads no more', { never: true }],
  ])('is answered where its provider answers at its head, and %s', async (_, how: Reading) => {
    const server = await startEager(how)
    try {
      for (const [path, said] of [
        ['refuse', [429, 'no']],
        ['stream', [200, 'begun ended']],
        // Over a kept connection, where there is one.
        ['refuse', [429, 'no']],
      ] as const) {
        const { body, headers } = bodyOf(new Uint8Array(3_000_000))
        const answer = await fetch(`${server.url}/${path}`, { method: 'POST', body, headers })
        expect([answer.status, await answer.text()]).toEqual([...said])
      }
    } finally {
      server.stop()
    }
  })

  test('is not sent on once its client has left', async () => {
    const server = await startEager({ never: true })
    try {
      const leaving = new AbortController()
      const left = ['silent', 'begun'].map((path) => {
        // More than any connection takes on its own.
        const { body, headers } = bodyOf(new Uint8Array(50_000_000))
        return fetch(`${server.url}/${path}`, { method: 'POST', body, headers, signal: leaving.signal }).then(
          (answer) => answer.text(),
        )
      })
      await server.asked(2)
      leaving.abort(new Error('gone'))
      const gone = { status: 'rejected', reason: new Error('gone') }
      expect(await Promise.allSettled(left)).toEqual([gone, gone] as PromiseSettledResult<string>[])
    } finally {
      server.stop()
    }
  })

  test('that is not so large is given whole: that costs less, and little is held', () => {
    expect(bodyOf(new Pieces([bytes.subarray(0, 60_000)]))).toEqual({ body: bytes.subarray(0, 60_000), headers: {} })
    expect(bodyOf('{}')).toEqual({ body: '{}', headers: {} })
  })
})
