// The limits of a key, whichever process a request comes to: requests and tokens a minute, requests at once.

import { describe, expect, test } from 'bun:test'
import { providersAt } from '../chaos/support/gateway.ts'
import { CHAT, streamed } from '../chaos/support/stories.ts'
import { type Gate, gate, startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { mostInAMinute, sample } from './books.ts'
import { begun, type Fleet, statusOf, until } from './fleet.ts'
import { FORMS, IS_LONG } from './forms.ts'
import { endedOtherwise, startLoad, varied } from './load.ts'

const stopping = stopsAfterEach()
const MINUTE_MS = 60_000

const holdRequests = async (fleet: Fleet): Promise<void> => {
  const key = await fleet.newKey({ rpm: 25 })
  const asked = Array.from({ length: 90 }, (_, i) => statusOf(fleet.at(i % fleet.all.length).ask(key.secret)))
  expect((await Promise.all(asked)).filter((status) => status === 200)).toHaveLength(25)
  for (const node of fleet.all) {
    const refused = await node.ask(key.secret)
    await refused.text()
    expect([refused.status, refused.headers.get('x-ratelimit-remaining-requests')]).toEqual([429, '0'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  }
}

const holdTokens = async (fleet: Fleet): Promise<void> => {
  const key = await fleet.newKey({ tpm: 300 })
  // One after the other, to each in turn, until one is refused.
  let at = 0
  while ((await statusOf(fleet.at(at % fleet.all.length).ask(key.secret))) === 200) at++
  const rows = await fleet.reading.query<{ tokens: number }>(
    `SELECT input + output AS tokens FROM exchanges WHERE key_id = '${key.id}' ORDER BY row`,
  )
  expect(rows).toHaveLength(at)
  const sum = rows.reduce((all, { tokens }) => all + tokens, 0)
  expect(sum).toBeGreaterThanOrEqual(300)
  // The last was let in while something was left.
  expect(sum - (rows.at(-1)?.tokens ?? 0)).toBeLessThan(300)
}

const holdAtOnce = async (fleet: Fleet, ends: readonly Gate[]): Promise<void> => {
  const key = await fleet.newKey({ concurrency: 3 })
  const slow = { user: 'slow', stream: true }
  const streams = []
  for (let i = 0; i < 3; i++) streams.push(await begun(fleet.at(i % fleet.all.length), key.secret, slow))
  for (const node of fleet.all) expect(await statusOf(node.ask(key.secret))).toBe(429)
  ends[0]?.open()
  expect(await streams[0]?.rest).toContain('[DONE]')
  for (const end of ends.slice(1)) end.open()
  await until(async () => (await statusOf(fleet.at(fleet.all.length - 1).ask(key.secret, slow))) === 200)
  for (const { rest } of streams) expect(await rest).toContain('[DONE]')
}

describe.each(FORMS.map((form) => [form.name, form] as const))('%s', (_, form) => {
  test.skipIf(form.missing !== undefined)(
    'hold a key to its requests a minute, its tokens a minute and its requests at once',
    async () => {
      const ends = [gate(), gate(), gate(), gate()]
      let at = 0
      const vendor = stopping(
        await startScripted((request, index) =>
          JSON.parse(request.text).user === 'slow'
            ? streamed(CHAT, CHAT.word('hello'), ends[at++] ?? gate())
            : varied(request, index),
        ),
      )
      const fleet = stopping(await form.start({ providers: providersAt({ b: [vendor.origin] }) }))
      const sampler = sample(fleet.reading)
      await holdRequests(fleet)
      await holdTokens(fleet)
      await holdAtOnce(fleet, ends)
      await sampler.sound()
      await fleet.books()
    },
    120_000,
  )

  test.skipIf(form.missing !== undefined || !IS_LONG)(
    'let in no more in any minute, however long they are asked',
    async () => {
      const vendor = stopping(await startScripted(varied))
      const fleet = stopping(await form.start({ providers: providersAt({ b: [vendor.origin] }) }))
      const sampler = sample(fleet.reading)
      const key = await fleet.newKey({ rpm: 40 })
      const load = startLoad(fleet, { secrets: [key.secret], clients: 6 })
      const since = performance.now()
      await until(() => performance.now() - since > 2.3 * MINUTE_MS, 4 * MINUTE_MS)
      const tally = await load.stop()
      expect(endedOtherwise(tally, '429')).toEqual([])
      await sampler.sound()
      const rows = await fleet.books()
      expect(await mostInAMinute(fleet.reading, key.id)).toBeLessThanOrEqual(40)
      // Nor is any of it left unused.
      expect(rows.length).toBeGreaterThanOrEqual(3 * 40)
    },
    300_000,
  )
})
