// Exchanges of all kinds, recorded in a database file.

import fc from 'fast-check'
import type { Key } from '../../../src/keys/key.ts'
import { calendarOf, UTC } from '../../../src/lib/calendar.ts'
import { DEFAULT_LIMITS } from '../../../src/members/member.ts'
import { openStore } from '../../../src/store/sqlite/index.ts'
import { ask, bench, settlement } from '../../ledger/support.ts'
import { ACTOR, HOUR, newKey, refusalOf } from '../support.ts'

/** A day before clocks change in some of the zones. */
export const FROM = Date.UTC(2026, 9, 24, 3)
export const HOURS = 72

export const some = fc.record({
  key: fc.nat(3),
  model: fc.constantFrom('a', 'b'),
  account: fc.constantFrom(undefined, 'p/one', 'p/two', 'q/one'),
  tag: fc.constantFrom(undefined, 'red', 'Blue', 'ä'),
  outcome: fc.constantFrom('done', 'done', 'failed', 'refused', 'aborted', 'open', 'kept out'),
  input: fc.option(fc.nat(50), { nil: undefined }),
  output: fc.nat(50),
  reasoning: fc.option(fc.nat(9), { nil: undefined }),
  estimated: fc.boolean(),
  firstByteMs: fc.option(fc.nat(900), { nil: undefined }),
  tools: fc.constantFrom(undefined, { web_search: 2 }, { code_execution: 1, web_search: 1 }),
  at: fc.nat(HOURS * HOUR),
})
export type Made = typeof some extends fc.Arbitrary<infer T> ? T : never

/** A database file with all of it. What is in flight is made in the background, so that no server need end it. */
export const record = async (path: string, zone: string, made: readonly Made[]): Promise<string[]> => {
  const time = { now: FROM }
  const store = openStore(path, { clock: () => time.now, calendar: calendarOf(zone) ?? UTC })
  const team = await store.teams.add({ name: 'crew' }, ACTOR)
  const member = (name: string, teamId: string | null) =>
    store.members.add({ name, role: 'member', limits: DEFAULT_LIMITS, passwordHash: 'x', teamId }, ACTOR)
  const [ann, bob] = [await member('Ann', team.id), await member('Bob', null)]
  const keys: Key[] = []
  for (const ownerId of [ann.id, ann.id, bob.id, undefined])
    keys.push((await store.keys.issue(newKey({ ownerId, tokensTotal: 1e12, expiresAt: 9e12 }), ACTOR)).key)
  const { ledger } = bench(store, { clock: () => time.now })
  for (const [i, each] of [...made].sort((a, b) => a.at - b.at).entries()) {
    time.now = FROM + each.at
    const key = keys[each.key]
    if (key === undefined) throw new Error('no such key')
    const { model, tag, outcome, input, output, reasoning, estimated, firstByteMs, tools } = each
    const id = `x${i}`
    if (outcome === 'kept out') {
      const hour = time.now - (time.now % HOUR)
      await store.refusals.write({
        refusals: [refusalOf({ id, keyId: key.id, at: time.now, model, tag })],
        counts: [{ keyId: key.id, hour, code: tag ?? 'none', count: 1 + output }],
      })
      continue
    }
    const reserving = ledger.reserve({ ...ask(key, { model, tag }), exchangeId: id })
    ledger.flush()
    const reservation = await reserving
    if (outcome === 'open') {
      await store.background.keep({
        id,
        exchangeId: id,
        keyId: key.id,
        provider: 'p',
        account: 'one',
        model,
        createdAt: time.now,
      })
      continue
    }
    const [provider, account] = each.account?.split('/') ?? []
    const usage = { input, output, reasoning: reasoning === undefined ? undefined : Math.min(reasoning, output) }
    ledger.settle(
      reservation,
      settlement({
        ...{ outcome, usage: JSON.parse(JSON.stringify(usage)), estimated, firstByteMs, totalMs: 1000 },
        ...{ provider, account, serverTools: tools },
      }),
    )
    ledger.flush()
  }
  await store.close()
  return keys.map(({ id }) => id)
}
