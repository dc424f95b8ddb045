// What a request must fit into, by the figures that the database tells: the quota of its key, and its budgets.

import type { Budget, BudgetId } from '../../../keys/budget.ts'
import type { Key } from '../../../keys/key.ts'
import { unknownKey } from '../../../keys/secret.ts'
import { requireLeft } from '../../../ledger/admission.ts'
import { type Bound, boundOf, type Per, quotaOf, TOKENS } from '../../../ledger/bounds.ts'
import { type AskOf, toShared, type Verdict } from '../../../ledger/shared.ts'
import type { Terms } from './options.ts'
import { soon } from './soon.ts'

type NameOf = (budget: BudgetId) => string | undefined
/** The key's first, then those of its budgets; null where there is none. */
type Figures = { lefts: readonly (number | null)[]; helds: readonly (number | null)[] }

export type Standing = {
  /** The newest that is known here. Throws where there is none. */
  keyOf(id: string): Promise<Key>
  boundsOf(of: { key: Key; counted: readonly Budget[]; per: Per | undefined }, told: Figures): Promise<Bound[]>
  /** Whether there is anything left at all. */
  look(asks: readonly AskOf<'look'>[]): Promise<Verdict[]>
}

/** A name that was changed is said by then. */
const NAMED_MS = 1_000

const NO_PRICE: Per = { input: 0, output: 0, least: 0, fees: 0 }

export const createStanding = ({ client, keys, budgets, refresh, calendar }: Terms): Standing => {
  const keyOf = async (id: string): Promise<Key> => {
    if (keys.get(id) === undefined) await refresh()
    const key = keys.get(id)
    if (key === undefined) throw unknownKey()
    return key
  }

  /** Of a storm of refusals most name the same: it is asked for once. */
  const asked = new Map<BudgetId, Promise<string | undefined>>()
  const nameOf = (id: BudgetId): Promise<string | undefined> => {
    const known = asked.get(id)
    if (known !== undefined) return known
    const reading = budgets.nameOf(id).catch(() => undefined)
    const name = soon(reading)
    asked.set(id, name)
    void reading.then(() => setTimeout(() => asked.delete(id), NAMED_MS).unref())
    return name
  }

  /** For the words of a refusal, which does not wait for long for them. */
  const namesOf = async (counted: readonly Budget[]): Promise<NameOf> => {
    const names = await Promise.all(counted.map(async ({ id }) => [id, await nameOf(id)] as const))
    return (budget) => names.find(([id]) => id === budget)?.[1]
  }

  const boundsOf: Standing['boundsOf'] = async ({ key, counted, per }, { lefts, helds }) => {
    const nameOf = await namesOf(counted)
    const bounds = [quotaOf(standingKey(key, lefts[0] ?? 0), helds[0] ?? 0, calendar)]
    for (const [i, budget] of counted.entries()) {
      const left = lefts[i + 1]
      if (left === null || left === undefined) continue
      const by = budget.unit === 'usd' ? (per ?? NO_PRICE) : TOKENS
      bounds.push(boundOf({ budget: standingBudget(budget, left), held: helds[i + 1] ?? 0, per: by, calendar, nameOf }))
    }
    return bounds
  }

  const requireAny = async (keyId: string): Promise<void> => {
    const key = await keyOf(keyId)
    const counted = budgets.of(key)
    const [row] = await client.query<{ left: number }>(
      'SELECT tokens_total - tokens_used AS left FROM keys WHERE id = $1',
      [keyId],
      { isRepeatable: true },
    )
    const rows = await client.query<{ id: string; left: number }>(
      `SELECT id, amount - CASE unit WHEN 'usd' THEN used_micro_usd ELSE used_tokens END AS left FROM budgets
       WHERE id = ANY ($1::text[]) AND amount IS NOT NULL`,
      [counted.map(({ id }) => id)],
      { isRepeatable: true },
    )
    const leftOf = new Map(rows.map(({ id, left }) => [id, left]))
    const lefts = [row?.left ?? 0, ...counted.map(({ id }) => leftOf.get(id) ?? null)]
    for (const bound of await boundsOf({ key, counted, per: undefined }, { lefts, helds: [] })) requireLeft(bound)
  }

  return {
    keyOf,
    boundsOf,
    look: (asks) =>
      Promise.all(
        asks.map(({ keyId }) =>
          requireAny(keyId).then(
            () => ({}),
            (thrown: unknown) => ({ error: toShared(thrown) }),
          ),
        ),
      ),
  }
}

const standingKey = (key: Key, left: number): Key => ({ ...key, tokensTotal: left, tokensUsed: 0 })

const standingBudget = (budget: Budget, left: number): Budget => {
  const used = budget.amount - left
  return { ...budget, used: { tokens: used, microUsd: used } }
}
