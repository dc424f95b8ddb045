// Many keys at once, used up to the last token by whoever is asked, and never beyond.

import { describe, expect, test } from 'bun:test'
import { providersAt } from '../chaos/support/gateway.ts'
import { startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { sample } from './books.ts'
import { issue, statusOf } from './fleet.ts'
import { FORMS, type Form, IS_LONG } from './forms.ts'
import { endedOtherwise, requireBilled, startLoad, type Tally, varied } from './load.ts'

const stopping = stopsAfterEach()
/** As many as it takes to have all nodes busy with others at once; fewer where there are fewer of them. */
const keysOf = (form: Form): number => (!IS_LONG ? 40 : form === FORMS.at(-1) ? 1_000 : 200)
/** Room for some answers whole, and one that is cut short. */
const TOKENS = 250

describe.each(FORMS.map((form) => [form.name, form] as const))('%s', (_, form) => {
  test.skipIf(form.missing !== undefined)(
    `use up ${keysOf(form)} keys, each for itself`,
    async () => {
      const vendor = stopping(await startScripted(varied))
      const secrets: string[] = []
      const fleet = stopping(
        await form.start(
          { providers: providersAt({ b: [vendor.origin] }) },
          {
            prepare: async (store) => {
              for (let i = 0; i < keysOf(form); i++) secrets.push((await issue(store, { tokensTotal: TOKENS })).secret)
            },
          },
        ),
      )
      const sampler = sample(fleet.reading)
      // Whatever is left of a key is asked for until it says that there is none.
      let left = secrets
      const tallies: Tally[] = []
      while (left.length > 0) {
        const load = startLoad(fleet, { secrets: left, clients: 24, each: Math.ceil(left.length / 4) })
        tallies.push(await load.ended)
        const asked = await Promise.all(left.map((secret, i) => statusOf(fleet.at(i % fleet.all.length).ask(secret))))
        left = left.filter((_, i) => asked[i] !== 402)
      }
      await sampler.sound()
      const rows = await fleet.books()
      for (const tally of tallies) {
        expect(endedOtherwise(tally, '402', '429')).toEqual([])
        requireBilled(tally, rows)
      }
      const keys = await fleet.reading.query<{ left: number }>(
        "SELECT tokens_total - tokens_used AS left FROM keys WHERE label = 'k'",
      )
      expect(keys).toHaveLength(keysOf(form))
      for (const { left } of keys) expect(left).toBeLessThanOrEqual(0)
    },
    IS_LONG ? 600_000 : 120_000,
  )
})
