// What the books must say at any moment, whichever database keeps them; and a sampler that looks while requests run.

import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { createClient } from '../../src/store/postgres/client.ts'
import { isStoreError } from '../../src/store/store.ts'

export type Books = {
  query<R extends object>(text: string): Promise<R[]>
  /** All that does not hold, in words, as of one moment. */
  broken(): Promise<string[]>
  close(): Promise<void>
}

/** Not through what a test puts between nodes and their database. */
export const postgresBooks = (url: string): Books => {
  const client = createClient(url, { max: 2 })
  const query = <R extends object>(text: string) =>
    client.query<R>(text, [], { isRepeatable: true, deadlineMs: 20_000 })
  return { query, broken: wordsOf(query, POSTGRES), close: () => client.close() }
}

export const fileBooks = (path: string): Books => {
  const db = new Database(path, { readonly: true })
  const query = async <R extends object>(text: string) => db.query<R, []>(text).all()
  return { query, broken: wordsOf(query, SQLITE), close: async () => db.close() }
}

const wordsOf = (query: Books['query'], text: string) => async (): Promise<string[]> =>
  (await query<{ words: string }>(text)).map(({ words }) => words)

/** How often the books are looked at: more often would be a load of its own, as would be this where they are long. */
const EVERY_MS = 20

export type Sampler = {
  /** Ends it, and holds what it has seen to be sound. */
  sound(): Promise<void>
}

export const sample = ({ broken }: Pick<Books, 'broken'>, everyMs = EVERY_MS): Sampler => {
  const seen = new Set<string>()
  let samples = 0
  let isOver = false
  const sampling = (async () => {
    while (!isOver) {
      try {
        for (const words of await broken()) seen.add(words)
        samples++
      } catch (cause) {
        // It is gone for as long as the test says.
        if (!isStoreError(cause)) throw cause
      }
      await Bun.sleep(everyMs)
    }
  })()
  return {
    async sound() {
      isOver = true
      await sampling
      expect([...seen]).toEqual([])
      expect(samples).toBeGreaterThan(0)
    },
  }
}

/** Of an exchange. */
const TOKENS = 'coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0) + coalesce(output, 0)'

/** Keys of this name begin anew while a test runs, and budgets that renew may: what they have used is not all that there was. */
export const ANEW = 'anew'

type Dialect = {
  /** Exchanges in flight. */
  open: string
  /** Of an exchange: whether its key and its budgets have its figures, and whether the sums have them. */
  charged: string
  summed: string
  /** Of a reservation: what of it is still set aside. */
  held: string
  heldMicroUsd: string
  /** Of a key and of a budget: what their rows say is held, where they do. */
  keyHeld: string
  budgetHeld: string
  budgetHeldMicroUsd: string
  /** The budgets of a reservation, as a table, and its column. */
  budgets: string
  budget: string
  /** What holds of this database alone. */
  more: string
}

const invariants = (d: Dialect): string => `
  WITH e AS (
    SELECT key_id, cost_micro_usd AS money, ${TOKENS} AS tokens, CASE WHEN ${d.charged} THEN 1 ELSE 0 END AS is_charged,
      CASE WHEN ${d.summed} THEN 1 ELSE 0 END AS is_summed FROM exchanges
  ), spent AS (
    SELECT key_id, sum(tokens * is_charged) AS tokens, sum(money * is_charged) AS money, sum(tokens * (1 - is_charged)) AS late,
      sum(money * (1 - is_charged)) AS late_money, max(tokens) AS most, max(money) AS dearest,
      sum(is_summed) AS n_summed, sum(tokens * is_summed) AS summed, sum(money * is_summed) AS summed_money
    FROM e GROUP BY key_id
  ), aside AS (
    SELECT key_id, count(*) AS n, sum(${d.held}) AS tokens FROM ${d.open} AS open GROUP BY key_id
  ), k AS (
    SELECT keys.*, ${d.keyHeld} AS held, coalesce(a.n, 0) AS n, coalesce(a.tokens, 0) AS aside,
      coalesce(s.tokens, 0) AS tokens, coalesce(s.late, 0) AS late, coalesce(s.most, 0) AS most
    FROM keys LEFT JOIN aside a ON a.key_id = keys.id LEFT JOIN spent s ON s.key_id = keys.id
  ), charged AS (
    SELECT b.id, sum(s.tokens) AS tokens, sum(s.money) AS money, sum(s.late) AS late, sum(s.late_money) AS late_money,
      max(s.most) AS most, max(s.dearest) AS dearest
    FROM budgets b JOIN keys ON b.id IN ('gateway', 'key:' || keys.id, 'member:' || keys.owner_id,
      'team:' || (SELECT team_id FROM members WHERE members.id = keys.owner_id))
    JOIN spent s ON s.key_id = keys.id GROUP BY b.id
  ), reserved AS (
    SELECT ${d.budget} AS id, count(*) AS n, sum(${d.held}) AS tokens, sum(${d.heldMicroUsd}) AS money
    FROM ${d.open} AS open, ${d.budgets} WHERE budgets IS NOT NULL GROUP BY ${d.budget}
  ), b AS (
    SELECT budgets.*, ${d.budgetHeld} AS held, ${d.budgetHeldMicroUsd} AS held_money, coalesce(r.n, 0) AS n,
      coalesce(r.tokens, 0) AS aside, coalesce(r.money, 0) AS aside_money, coalesce(c.tokens, 0) AS tokens,
      coalesce(c.money, 0) AS money, coalesce(CASE unit WHEN 'usd' THEN c.dearest ELSE c.most END, 0) AS most,
      CASE unit WHEN 'usd' THEN used_micro_usd + coalesce(c.late_money, 0) ELSE used_tokens + coalesce(c.late, 0) END AS used,
      CASE unit WHEN 'usd' THEN coalesce(r.money, 0) ELSE coalesce(r.tokens, 0) END AS kept
    FROM budgets LEFT JOIN reserved r ON r.id = budgets.id LEFT JOIN charged c ON c.id = budgets.id WHERE amount IS NOT NULL
  )
  SELECT 'key ' || label || ' has used ' || tokens_used || ', its exchanges come to ' || tokens AS words FROM k
    WHERE tokens_used <> tokens AND label <> '${ANEW}'
  UNION ALL SELECT 'key ' || label || ' holds ' || held || ', its reservations come to ' || aside FROM k WHERE held <> aside
  -- A request that is alone may take more than is left.
  UNION ALL SELECT 'key ' || label || ' has used ' || tokens_used + late || ' and holds ' || aside || ' of ' || tokens_total FROM k
    WHERE tokens_used + late + CASE WHEN n > 1 THEN aside ELSE 0 END > tokens_total + CASE WHEN n > 1 THEN 0 ELSE most END
  UNION ALL SELECT 'budget ' || id || ' has used ' || used_tokens || ' and ' || used_micro_usd || ', its exchanges come to '
      || tokens || ' and ' || money FROM b
    WHERE (used_tokens <> tokens OR used_micro_usd <> money) AND renews IS NULL
  UNION ALL SELECT 'budget ' || id || ' holds ' || held || ' and ' || held_money || ', its reservations come to ' || aside
      || ' and ' || aside_money FROM b WHERE held <> aside OR held_money <> aside_money
  UNION ALL SELECT 'budget ' || id || ' has used ' || used || ' and holds ' || kept || ' of ' || amount FROM b
    WHERE used + CASE WHEN n > 1 THEN kept ELSE 0 END > amount + CASE WHEN n > 1 THEN 0 ELSE most END
  UNION ALL SELECT 'exchange ' || id || ' is there ' || count(*) || ' times' FROM exchanges GROUP BY id HAVING count(*) > 1
  UNION ALL SELECT 'sums of ' || coalesce(s.key_id, u.key_id) || ' are ' || coalesce(u.n, 0) || ', ' || coalesce(u.tokens, 0)
      || ', ' || coalesce(u.money, 0) || ' and not ' || coalesce(n_summed, 0) || ', ' || coalesce(summed, 0) || ', '
      || coalesce(summed_money, 0)
    FROM spent s FULL JOIN (SELECT key_id, sum(requests) AS n, sum(input + cache_read + cache_write + output) AS tokens,
      sum(cost_micro_usd) AS money FROM usage_hours GROUP BY key_id) AS u ON u.key_id = s.key_id
    WHERE coalesce(n_summed, 0) <> coalesce(u.n, 0) OR coalesce(summed, 0) <> coalesce(u.tokens, 0)
      OR coalesce(summed_money, 0) <> coalesce(u.money, 0)
  ${d.more}`

const POSTGRES = invariants({
  ...{ open: 'reservations', charged: 'true', summed: 'summed' },
  ...{ held: 'held', heldMicroUsd: 'held_micro_usd', keyHeld: 'tokens_held' },
  ...{ budgetHeld: 'held_tokens', budgetHeldMicroUsd: 'held_micro_usd' },
  ...{ budgets: 'json_array_elements_text(budgets::json) AS of (id)', budget: 'of.id' },
  more: `
  UNION ALL SELECT 'key ' || label || ' has ' || in_flight || ' in flight, and ' || count(entered.id) || ' are in'
    FROM keys LEFT JOIN entered ON key_id = keys.id GROUP BY keys.id HAVING in_flight <> count(entered.id)
  UNION ALL SELECT 'key ' || label || ' has let in ' || sum(n) || ' of ' || rpm || ' in a minute'
    FROM keys JOIN (SELECT key_id, second, requests AS n FROM windows) AS had ON key_id = keys.id
    WHERE second > sluice_now() / 1000 - 60 AND rpm > 0 GROUP BY keys.id HAVING sum(n) > rpm
  UNION ALL SELECT 'key ' || label || ' has ' || in_flight || ' in flight of ' || concurrency FROM keys
    WHERE concurrency > 0 AND in_flight > concurrency`,
})

/** What is held is in memory there, for what is in flight; a reservation stays with its exchange until the sums are written. */
const IS_LATE = 'row IN (SELECT row FROM reservations)'
const SQLITE = invariants({
  open: '(SELECT * FROM reservations WHERE row NOT IN (SELECT row FROM exchanges))',
  ...{ charged: `NOT ${IS_LATE}`, summed: `NOT ${IS_LATE}` },
  ...{ held: 'reserved', heldMicroUsd: 'reserved_micro_usd', keyHeld: 'coalesce(a.tokens, 0)' },
  ...{ budgetHeld: 'coalesce(r.tokens, 0)', budgetHeldMicroUsd: 'coalesce(r.money, 0)' },
  ...{ budgets: 'json_each(budgets) AS one', budget: 'one.value', more: '' },
})

/** The most that a key was let in within any 50 s, by when they began: a little after they were let in. */
export const mostInAMinute = async ({ query }: Pick<Books, 'query'>, keyId: string): Promise<number> => {
  const [row] = await query<{ most: number }>(
    `SELECT coalesce(max(n), 0) AS most FROM (
       SELECT count(*) OVER (ORDER BY started_at RANGE BETWEEN 50000 PRECEDING AND CURRENT ROW) AS n
       FROM exchanges WHERE key_id = '${keyId}') AS each`,
  )
  return row?.most ?? 0
}
