// Memory of bodies that is given back.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { free, lend } from '../../src/lib/memory.ts'
import { bodyOf } from '../../src/lib/pieces.ts'

const LARGE = 64 * 1024

test('memory goes at once, and once only; little is left where it is, with what lies beside it', () => {
  const large = new Uint8Array(LARGE)
  const small = new Uint8Array(1_000)
  for (let times = 0; times < 2; times++) for (const bytes of [large, small]) free(bytes)
  expect([large, small].map(({ byteLength }) => byteLength)).toEqual([0, 1_000])
})

test('what is lent stays until nobody has it, whenever it is freed', () => {
  const steps = fc.array(fc.constantFrom('lend', 'take back', 'free'), { maxLength: 20 })
  fc.assert(
    fc.property(steps, (steps) => {
      const bytes = new Uint8Array(LARGE)
      const lent: (() => void)[] = []
      let isFreed = false
      for (const step of steps) {
        if (step === 'free') {
          free(bytes)
          isFreed = true
        } else if (step === 'lend' && bytes.byteLength > 0) lent.push(lend([bytes.subarray(1, 9), bytes.subarray(9)]))
        else if (step === 'take back') {
          const last = lent.pop()
          // Twice is once.
          last?.()
          last?.()
        }
        expect(bytes.byteLength).toBe(isFreed && lent.length === 0 ? 0 : LARGE)
      }
    }),
  )
})

test('a body that is freed while it is sent arrives whole, and is gone then', async () => {
  const server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    async fetch(request) {
      let sum = 0
      for await (const piece of request.body ?? []) {
        for (const byte of piece) sum += byte
        // Slower than it is sent.
        await new Promise(setImmediate)
      }
      return new Response(String(sum))
    },
  })
  try {
    const bytes = new Uint8Array(5_000_000).fill(3)
    const { body, headers } = bodyOf(bytes)
    const answer = fetch(server.url, { method: 'POST', body, headers })
    free(bytes)
    expect(bytes.byteLength).toBe(5_000_000)
    expect(await (await answer).text()).toBe('15000000')
    expect(bytes.byteLength).toBe(0)
  } finally {
    await server.stop(true)
  }
})

test('the runtime has copied each part once it is given', async () => {
  const server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    async fetch(request) {
      // Nothing is read before all has been given.
      await given.promise
      const bytes = await request.bytes()
      return new Response(String(bytes.every((byte) => byte === 5)))
    },
  })
  const given = Promise.withResolvers<void>()
  try {
    const part = new Uint8Array(100_000)
    const source: Bun.DirectUnderlyingSource = {
      type: 'direct',
      pull(to) {
        for (let times = 0; times < 20; times++) {
          part.fill(5)
          to.write(part)
          part.fill(0)
        }
        to.end()
        given.resolve()
      },
    }
    const answer = await fetch(server.url, { method: 'POST', body: new ReadableStream(source as object) })
    expect(await answer.text()).toBe('true')
  } finally {
    await server.stop(true)
  }
})
