// What people change while requests run: quotas that begin anew, more tokens, secrets that are replaced, keys that are revoked.

import { describe, expect, test } from 'bun:test'
import { providersAt } from '../chaos/support/gateway.ts'
import { startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { ANEW, sample } from './books.ts'
import { type Fleet, statusOf, until } from './fleet.ts'
import { FORMS, IS_LONG } from './forms.ts'
import { endedOtherwise, requireBilled, startLoad, varied } from './load.ts'
import { told } from './took.ts'

const stopping = stopsAfterEach()

type Sent = { method?: string; body?: object }

const change = async (
  fleet: Fleet,
  at: number,
  path: string,
  { method = 'POST', body }: Sent = {},
): Promise<unknown> => {
  const response = await fleet
    .at(at % fleet.all.length)
    .admin(path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

describe.each(FORMS.map((form) => [form.name, form] as const))('%s', (_, form) => {
  const started = async (): Promise<Fleet> => {
    const vendor = stopping(await startScripted(varied))
    return stopping(await form.start({ providers: providersAt({ b: [vendor.origin] }) }))
  }

  test.skipIf(form.missing !== undefined)(
    'count what is used since a key began anew, and what is added to it, under load',
    async () => {
      const fleet = await started()
      const anew = await fleet.newKey({ label: ANEW, tokens_total: 4_000 })
      const topped = await fleet.newKey({ tokens_total: 1_000, budget: { usd: 50 } })
      const sampler = sample(fleet.reading)
      const load = startLoad(fleet, { secrets: [anew.secret, topped.secret, fleet.secret], clients: 12 })
      for (let i = 0; i < 6; i++) {
        const before = load.done()
        await until(() => load.done() > before + 15)
        await change(fleet, i, `/keys/${anew.id}/reset`)
        await change(fleet, i + 1, `/keys/${topped.id}/top-up`, { body: { tokens: 600, lasting: true } })
        await change(fleet, i + 1, `/keys/${topped.id}`, { method: 'PATCH', body: { label: `k${i}` } })
      }
      const tally = await load.stop()
      await sampler.sound()
      expect(endedOtherwise(tally, '402', '429')).toEqual([])
      const rows = await fleet.books()
      requireBilled(tally, rows)
      const [key] = await fleet.reading.query<{ total: number }>(
        `SELECT tokens_total AS total FROM keys WHERE id = '${topped.id}'`,
      )
      expect(key?.total).toBe(1_000 + 6 * 600)
    },
    120_000,
  )

  test.skipIf(form.missing !== undefined)(
    'refuse everywhere a key that was revoked and a secret that was replaced anywhere, under load',
    async () => {
      const fleet = await started()
      const load = startLoad(fleet, { secrets: [fleet.secret], clients: 8 })
      let slowest = 0
      for (let round = 0; round < (IS_LONG ? 12 : 3); round++) {
        const [revoked, rotated] = [await fleet.newKey(), await fleet.newKey()]
        const known = async (secret: string): Promise<void> => {
          for (const node of fleet.all) expect(await statusOf(node.ask(secret))).toBe(200)
        }
        await known(revoked.secret)
        await known(rotated.secret)
        const ended = startLoad(fleet, { secrets: [revoked.secret, rotated.secret], clients: 8 })
        await until(() => ended.done() > 10)
        await change(fleet, round, `/keys/${revoked.id}/revoke`)
        const { secret } = (await change(fleet, round, `/keys/${rotated.id}/rotate`, {
          body: { grace_seconds: 0 },
        })) as {
          secret: string
        }
        const since = performance.now()
        const refused = async (secret: string) => {
          const statuses = await Promise.all(
            Array.from({ length: 2 * fleet.all.length }, (_, i) =>
              statusOf(fleet.at(i % fleet.all.length).ask(secret)),
            ),
          )
          return statuses.every((status) => status === 401)
        }
        await until(async () => (await refused(revoked.secret)) && (await refused(rotated.secret)))
        slowest = Math.max(slowest, performance.now() - since)
        await known(secret)
        expect(endedOtherwise(await ended.stop(), '401')).toEqual([])
        expect(await refused(revoked.secret)).toBe(true)
      }
      told(`${form.name}: refused everywhere after it was revoked, at most`, slowest, IS_LONG ? 1_000 : undefined)
      const tally = await load.stop()
      expect(endedOtherwise(tally)).toEqual([])
      requireBilled(tally, await fleet.books())
    },
    IS_LONG ? 600_000 : 120_000,
  )
})
