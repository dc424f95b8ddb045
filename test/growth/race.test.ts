// Two hundred clients at once on what has room for twenty: in every form of the gateway, of every bound there is.

import { describe, expect, test } from 'bun:test'
import { GATEWAY_BUDGET } from '../../src/config/settings.ts'
import { DEFAULT_LIMITS } from '../../src/members/member.ts'
import type { Store } from '../../src/store/store.ts'
import { providersAt } from '../chaos/support/gateway.ts'
import { CHAT, whole } from '../chaos/support/stories.ts'
import { SYSTEM } from '../support/gateway.ts'
import { type Gate, gate, startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { sample } from './books.ts'
import { type Fleet, issue, statusOf, until } from './fleet.ts'
import { FORMS } from './forms.ts'
import { slack } from './took.ts'

const CLIENTS = 200
const ROOM = 20
const stopping = stopsAfterEach()

/** Far more than anything here takes. */
const WIDE = { usd: 1_000_000 }
const BUDGET = { unit: 'usd', amount: 1e12, renews: undefined, warnAt: [50] } as const

/** A key whose owner is in a team, with a budget at each level. */
const people = async (store: Store) => {
  const team = await store.teams.add({ name: 'Blue', budget: BUDGET }, SYSTEM)
  const member = await store.members.add(
    { name: 'Ann', role: 'member', limits: DEFAULT_LIMITS, teamId: team.id, budget: BUDGET },
    SYSTEM,
  )
  const { key, secret } = await issue(store, { ownerId: member.id })
  await store.settings.write({ [GATEWAY_BUDGET]: WIDE }, SYSTEM)
  return { key, secret, budgets: { member: `member:${member.id}`, team: `team:${team.id}`, gateway: 'gateway' } }
}

describe.each(FORMS.map((form) => [form.name, form] as const))('%s', (_, form) => {
  test.skipIf(form.missing !== undefined)(
    `let in of ${CLIENTS} requests at once the ${ROOM} that there is room for, whatever bounds them`,
    async () => {
      let until20: Gate = gate()
      const vendor = stopping(
        await startScripted(async () => {
          await until20.opened
          return whole(CHAT)
        }),
      )
      let made: Awaited<ReturnType<typeof people>> | undefined
      const fleet: Fleet = stopping(
        await form.start(
          { providers: providersAt({ b: [vendor.origin] }) },
          {
            prepare: async (store) => {
              made = await people(store)
            },
          },
        ),
      )
      if (made === undefined) throw new Error('nothing was prepared')
      const { secret, key, budgets } = made
      const sampler = sample(fleet.reading)

      // What one sets aside is known from one.
      const one = fleet.at(0).ask(secret)
      await vendor.arrived(0)
      const [set] = await fleet.reading.query<{ tokens: number; money: number }>(
        'SELECT reserved AS tokens, reserved_micro_usd AS money FROM reservations',
      )
      until20.open()
      expect(await statusOf(one)).toBe(200)
      if (set === undefined || set.money === 0) throw new Error('nothing was set aside')
      let arrived = 1

      const refused = async (): Promise<number> => {
        const counts = await Promise.all(fleet.all.map((node) => node.metrics()))
        return counts.reduce((sum, count) => sum + count('sluice_requests_total'), 0)
      }
      const race = async (secret: string): Promise<void> => {
        until20 = gate()
        const before = await refused()
        const asked = Array.from({ length: CLIENTS }, (_, i) => statusOf(fleet.at(i % fleet.all.length).ask(secret)))
        await vendor.arrived(arrived + ROOM - 1)
        // Who is refused is refused while all others wait.
        await until(async () => (await refused()) >= before + CLIENTS - ROOM)
        until20.open()
        const statuses = await Promise.all(asked)
        // Where a machine is too busy to say so in time, a request is refused as one that may come again.
        const refusals = slack() > 1 ? [429, 503] : [429]
        expect(statuses.filter((status) => !refusals.includes(status))).toEqual(new Array(ROOM).fill(200))
        arrived += ROOM
        expect(vendor.requests).toHaveLength(arrived)
      }

      await race((await fleet.newKey({ tokens_total: ROOM * set.tokens })).secret)
      for (const id of Object.values(budgets)) {
        const spent = await spentOf(fleet, id === 'gateway' ? undefined : key.id)
        const put = (budget: object) =>
          fleet.at(0).admin(`/budgets/${id}`, { method: 'PUT', body: JSON.stringify({ budget }) })
        expect((await put({ usd: (spent + ROOM * set.money) / 1e6 })).status).toBe(200)
        await race(secret)
        expect((await put(WIDE)).status).toBe(200)
      }
      await sampler.sound()
      const rows = await fleet.books()
      expect(rows).toHaveLength(arrived)
      expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(['done']))
    },
    120_000,
  )
})

/** In micro-USD, by a key or by all: what its exchanges come to, which the sums follow a moment later. */
const spentOf = async ({ reading }: Fleet, keyId?: string): Promise<number> => {
  const [row] = await reading.query<{ spent: number }>(
    `SELECT coalesce(sum(cost_micro_usd), 0) AS spent FROM exchanges
     ${keyId === undefined ? '' : `WHERE key_id = '${keyId}'`}`,
  )
  return row?.spent ?? 0
}
