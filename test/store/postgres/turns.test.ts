// A turn of a node by few statements against the same turn gone through one by one: whatever is asked in it, the database says the
// same and is the same afterwards.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { RateLimits } from '../../../src/keys/key.ts'
import type { Client } from '../../../src/store/postgres/client.ts'
import {
  beginningBy,
  TURN,
  type Turn,
  type TurnRow,
  turnOf,
  turnParams,
} from '../../../src/store/postgres/ledger/turn.ts'
import { openLedger } from '../../ledger/shared/postgres.ts'
import { postgresMissing } from '../../support/postgres.ts'

const KEYS = ['key_free', 'key_limited', 'key_paced', 'key_counted']
const BUDGET = 'gateway'
const START = Date.UTC(2026, 8, 1, 12)
const NODE = 'node'

type Wish = { key: number; reserved: number; isStale: boolean; counts: boolean }
/** `ends`, `leaves`: which of those that are open or in. `oddity`: what makes a turn one of the rare ones. */
type Step = {
  wishes: Wish[]
  ends: { which: number; tokens: number }[]
  leaves: number[]
  waitMs: number
  oddity: 'none' | 'again' | 'fenced' | 'revoked' | 'refund' | 'ended before' | 'renewed'
  defaults: RateLimits
}

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  wishes: fc.array(
    fc.record({
      key: fc.nat(KEYS.length - 1),
      reserved: fc.integer({ min: 0, max: 400 }),
      isStale: fc.integer({ min: 0, max: 30 }).map((n) => n === 0),
      counts: fc.integer({ min: 0, max: 8 }).map((n) => n === 0),
    }),
    { maxLength: 7 },
  ),
  ends: fc.array(fc.record({ which: fc.nat(10), tokens: fc.nat(300) }), { maxLength: 4 }),
  leaves: fc.array(fc.nat(10), { maxLength: 3 }),
  waitMs: fc.oneof(fc.nat(900), fc.integer({ min: 900, max: 30_000 }), fc.integer({ min: 55_000, max: 70_000 })),
  oddity: fc.oneof(
    { weight: 12, arbitrary: fc.constant('none' as const) },
    { weight: 3, arbitrary: fc.constantFrom('again', 'fenced', 'revoked', 'refund', 'ended before', 'renewed') },
  ),
  defaults: fc.constantFrom({ rpm: 0, tpm: 0, concurrency: 0 }, { rpm: 9, tpm: 900, concurrency: 4 }),
})

const TABLES = [
  `SELECT id, tokens_used, tokens_held, in_flight, last_used_at FROM keys ORDER BY id`,
  `SELECT id, used_tokens, used_micro_usd, held_tokens, held_micro_usd, marked FROM budgets ORDER BY id`,
  `SELECT id, key_id, started_at, reserved, held, reserved_micro_usd, held_micro_usd, budgets, node FROM reservations ORDER BY id`,
  `SELECT id, key_id, ended_at, outcome, input, output, cost_micro_usd, left_after, alone, reserved FROM exchanges ORDER BY id`,
  `SELECT id, key_id, node, second FROM entered ORDER BY id`,
  `SELECT key_id, second, requests, tokens FROM windows ORDER BY key_id, second`,
]

const EMPTIED = ['keys', 'budgets', 'budget_marks', 'reservations', 'exchanges', 'entered', 'windows', 'nodes']

/** What it says, but for the time of its own that it took; what counted in one second may come in parts. */
const saidBy = ({ waited: _, told, windows, now, fenced }: Turn): unknown => ({
  fenced,
  windows: windows ?? undefined,
  now: windows === null || windows === undefined ? undefined : now,
  told: told?.map(({ seconds, of_requests, of_tokens, ...one }) => ({
    ...one,
    counted: Object.entries(
      Object.groupBy(
        (seconds ?? []).map((second, i) => ({ second, requests: of_requests?.[i] ?? 0, tokens: of_tokens?.[i] ?? 0 })),
        ({ second }) => second,
      ),
    )
      .map(([second, parts = []]) => ({
        second,
        requests: parts.reduce((sum, { requests }) => sum + requests, 0),
        tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0),
      }))
      .filter(({ requests, tokens }) => requests + tokens > 0),
  })),
})

test.skipIf(postgresMissing !== undefined)(
  'a turn by few statements says and leaves what the same does one by one',
  async () => {
    const [few, each] = [await openLedger(), await openLedger()]
    const both = [few.admin, each.admin]
    const onBoth = (text: string, params: unknown[] = []) => Promise.all(both.map((on) => on.query(text, params)))
    await onBoth('CREATE TABLE test_clock AS SELECT 0::bigint AS ms')
    await onBoth(
      'CREATE OR REPLACE FUNCTION sluice_now() RETURNS bigint LANGUAGE sql VOLATILE AS $$ SELECT ms FROM test_clock $$',
    )
    const begin = async (): Promise<void> => {
      for (const table of EMPTIED) await onBoth(`DELETE FROM ${table}`)
      await onBoth('UPDATE test_clock SET ms = $1', [START])
      await onBoth(
        `INSERT INTO keys (id, label, hash, created_at, expires_at, tokens_total, models, rpm, tpm, concurrency, version)
         VALUES ('key_free', '', '1', 0, 9e15, 3000, '["*"]', NULL, NULL, NULL, 1),
           ('key_limited', '', '2', 0, 9e15, 3000, '["*"]', 5, 500, 3, 1),
           ('key_paced', '', '3', 0, 9e15, 9000, '["*"]', 4, NULL, NULL, 1),
           ('key_counted', '', '4', 0, 9e15, 9000, '["*"]', NULL, 200, NULL, 1)`,
      )
      await onBoth(
        `INSERT INTO budgets (id, unit, amount, warn_at, since, version) VALUES ($1, 'usd', 5000, '[50,100]', 1, 1)`,
        [BUDGET],
      )
      await onBoth('INSERT INTO nodes (id, until, steady_since) VALUES ($1, 9e15, 0)', [NODE])
    }
    const said = async (on: Client, text: string, params: unknown[]): Promise<unknown> =>
      saidBy(turnOf((await on.query<TurnRow>(text, params))[0]))
    let turns = 0
    let plain = 0

    const play = async (steps: readonly Step[]): Promise<void> => {
      await begin()
      let ms = START
      let made = 0
      const open: { id: string; keyId: string; budgets: string | undefined }[] = []
      const inside: { id: string; keyId: string }[] = []
      const past: typeof open = []
      const take = <T>(list: T[], which: readonly number[]): T[] =>
        which.flatMap((at) => (list.length === 0 ? [] : list.splice(at % list.length, 1)))
      for (const step of steps) {
        ms += step.waitMs
        await onBoth('UPDATE test_clock SET ms = $1', [ms])
        await onBoth('UPDATE nodes SET until = $1', [step.oddity === 'fenced' ? 0 : 9e15])
        if (step.oddity === 'revoked') await onBoth(`UPDATE keys SET revoked_at = 1 WHERE id = 'key_paced'`)
        if (step.oddity === 'renewed') await onBoth('UPDATE keys SET tokens_used = 0, version = version + 1')
        // As nodes say it: those come in and count whose key has limits.
        const isLimited = (keyId: string): boolean => keyId !== 'key_free' || step.defaults.rpm > 0
        const ends = take(
          open,
          step.ends.map(({ which }) => which),
        )
        if (step.oddity === 'ended before') ends.push(...past.slice(0, 1))
        const away = take(inside, step.leaves)
        const wishes = step.wishes.map(({ key, ...wish }) => {
          const keyId = KEYS[key] ?? ''
          return { ...wish, keyId, id: `exc_${made++}`, enters: isLimited(keyId) }
        })
        const keys = new Set([...wishes, ...ends, ...away].map(({ keyId }) => keyId))
        const budgets = new Set(
          [...wishes.filter(({ counts }) => counts), ...ends.filter((one) => one.budgets)].map(() => BUDGET),
        )
        const refunded = step.oddity === 'refund' ? away.splice(0, 1) : []
        const ended = ends.map(({ id, keyId, budgets: of }, i) => {
          const tokens = step.ends[i]?.tokens ?? 7
          const figures = { input: tokens, output: 0, cost_micro_usd: tokens, tokens, estimated: false, alone: false }
          const how = { outcome: 'done', status: 200, attempts: 1, total_ms: 1, hour: 1, day: '2026-09-01' }
          const counted = isLimited(keyId)
          return { id, ended_at: ms, ...how, ...figures, counted, ...(of === undefined ? {} : { budgets: of }) }
        })
        const asks = wishes.map(({ id, keyId, reserved, isStale, counts, enters }, i) => ({
          ...{ at: i + 1, id, key_id: keyId, seen: isStale ? 0 : 99, model: 'm', wire: 'messages', stream: false },
          ...{ started_at: ms, input_estimate: 1, reserved, reserved_micro_usd: counts ? reserved : 0 },
          ...(counts ? { counts: [BUDGET], budgets: JSON.stringify([BUDGET]) } : {}),
          ...(enters ? { enters } : {}),
        }))
        const entering = [...new Set(wishes.filter(({ enters }) => enters).map(({ keyId }) => keyId))]
        const parts = {
          node: NODE,
          concerned: { keys, budgets, unknown: new Set<string>() },
          ending: [
            ends.map(({ id }) => id),
            JSON.stringify(ended),
            away.map(({ id }) => id),
            refunded.map(({ id }) => id),
          ],
          asking: [wishes.map(({ id }) => id), JSON.stringify(asks), step.oddity === 'again', entering],
        } satisfies Parameters<typeof turnParams>[0]
        const params = turnParams(parts, step.defaults)
        const text = wishes.length === 0 ? TURN : beginningBy(parts)
        const one = text.replace(/sluice_carry\w*/, 'sluice_carry_each')
        expect(await said(few.admin, text, params)).toEqual(await said(each.admin, one, params))
        for (const table of TABLES) expect(await few.admin.query(table)).toEqual(await each.admin.query(table))
        past.push(...ends)
        const granted = new Set(
          (await few.admin.query<{ id: string }>('SELECT id FROM reservations')).map(({ id }) => id),
        )
        const isIn = new Set((await few.admin.query<{ id: string }>('SELECT id FROM entered')).map(({ id }) => id))
        for (const { id, keyId, counts } of wishes) {
          if (granted.has(id)) open.push({ id, keyId, budgets: counts ? JSON.stringify([BUDGET]) : undefined })
          if (isIn.has(id)) inside.push({ id, keyId })
        }
        turns++
        if (wishes.length > 0 && wishes.every(({ id }) => granted.has(id))) plain++
      }
    }
    try {
      await fc.assert(fc.asyncProperty(fc.array(stepArbitrary, { minLength: 1, maxLength: 25 }), play), { numRuns: 40 })
      // What the law is about came up.
      expect(plain).toBeGreaterThan(turns / 5)
    } finally {
      await few.close()
      await each.close()
    }
  },
  120_000,
)
