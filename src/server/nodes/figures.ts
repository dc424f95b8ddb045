// What requests in flight hold, at all nodes: as the database has it, read when somebody wants to see it.

import type { BudgetId, Spent } from '../../keys/budget.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Client } from '../../store/postgres/client.ts'

/** What is that young is not read again. */
const FRESH_MS = 500

const READ = `
  SELECT 'key' AS what, id, tokens_held AS tokens, 0::bigint AS micro_usd FROM keys WHERE tokens_held > 0
  UNION ALL
  SELECT 'budget', id, held_tokens, held_micro_usd FROM budgets WHERE held_tokens > 0 OR held_micro_usd > 0
  UNION ALL
  SELECT 'open', key_id, count(*), 0 FROM reservations GROUP BY key_id`

type Row = { what: 'key' | 'budget' | 'open'; id: string; tokens: number; micro_usd: number }

type SharedFigures = Pick<Ledger, 'heldBy' | 'heldOf' | 'openCount'> & { refresh(): Promise<void> }

export const createFigures = (client: Pick<Client, 'query'>): SharedFigures => {
  const held = new Map<string, number>()
  const heldOf = new Map<BudgetId, Spent>()
  const open = new Map<string, number>()
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  const read = async (): Promise<void> => {
    const rows = await client.query<Row>(READ, [], { isRepeatable: true })
    for (const known of [held, heldOf, open]) known.clear()
    for (const { what, id, tokens, micro_usd: microUsd } of rows) {
      if (what === 'key') held.set(id, tokens)
      else if (what === 'open') open.set(id, tokens)
      else heldOf.set(id as BudgetId, { tokens, microUsd })
    }
    readAt = performance.now()
  }
  return {
    heldBy: (keyId) => held.get(keyId) ?? 0,
    heldOf: (budget) => heldOf.get(budget) ?? { tokens: 0, microUsd: 0 },
    openCount: (keyIds) =>
      [...open].reduce((sum, [keyId, count]) => sum + (keyIds === undefined || keyIds.has(keyId) ? count : 0), 0),
    async refresh() {
      if (performance.now() - readAt < FRESH_MS) return
      reading ??= read().finally(() => {
        reading = undefined
      })
      await reading
    },
  }
}
