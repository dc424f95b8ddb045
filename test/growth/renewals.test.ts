// A day that begins while requests run: quotas and budgets of a day begin anew, once, by the clock that decides.

import { describe, expect, test } from 'bun:test'
import { providersAt } from '../chaos/support/gateway.ts'
import { startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { ANEW, sample } from './books.ts'
import { clockMissing } from './clocks.ts'
import { statusOf, until } from './fleet.ts'
import { FORMS, IS_LONG } from './forms.ts'
import { endedOtherwise, startLoad, varied } from './load.ts'

const stopping = stopsAfterEach()
const DAY_MS = 86_400_000
/** Until midnight, from before anything is started. */
const LEFT_MS = 30_000

describe.each(FORMS.map((form) => [form.name, form] as const))('%s', (_, form) => {
  test.skipIf(form.missing !== undefined || clockMissing !== undefined || !IS_LONG)(
    'begin what is renewed each day at midnight, once, and serve again what was used up',
    async () => {
      const vendor = stopping(await startScripted(varied))
      const aheadMs = DAY_MS - (Date.now() % DAY_MS) - LEFT_MS
      const since = performance.now()
      const file = { time_zone: 'UTC', providers: providersAt({ b: [vendor.origin] }) }
      const fleet = stopping(await form.start(file, { aheadMs }))
      const byTokens = await fleet.newKey({ label: ANEW, tokens_total: 700, renews: 'day' })
      const byMoney = await fleet.newKey({ budget: { usd: 0.02, renews: 'day' } })
      const secrets = [byTokens.secret, byMoney.secret]
      const sampler = sample(fleet.reading)
      const load = startLoad(fleet, { secrets, clients: 8 })
      await until(async () => {
        const said = await Promise.all(fleet.all.flatMap((node) => secrets.map((secret) => statusOf(node.ask(secret)))))
        return said.every((status) => status === 402)
      })
      expect(performance.now() - since).toBeLessThan(LEFT_MS)
      await until(async () => (await statusOf(fleet.at(0).ask(byTokens.secret))) === 200, 90_000)
      await until(async () => (await statusOf(fleet.at(fleet.all.length - 1).ask(byMoney.secret))) === 200)
      const tally = await load.stop()
      expect(endedOtherwise(tally, '402', '429')).toEqual([])
      await sampler.sound()
      await fleet.books()
      const renewed = await fleet.reading.query<{ target: string; action: string }>(
        "SELECT target, action FROM audit WHERE action IN ('key.renew', 'budget.renew') ORDER BY action",
      )
      expect(renewed).toEqual([
        { target: `key:${byMoney.id}`, action: 'budget.renew' },
        { target: byTokens.id, action: 'key.renew' },
      ])
    },
    240_000,
  )
})
