// A change and its rows in the audit: both are written, or neither. Changes have one order over all nodes.

import type { Actor } from '../../keys/key.ts'
import type { Client, TransactionManner } from './client.ts'
import { type Orm, ormOf } from './orm.ts'
import { audit } from './schema.ts'

/** Writes a row of the audit, and returns which. `before` and `after` without secrets or their hashes; null: there was, or is, none. */
export type Note = (action: string, target: string, before: unknown, after: unknown) => Promise<number>

/** `now`: milliseconds since the epoch, by the database's clock. */
export type Recorded = { tx: Orm; note: Note; now: number }
/** `version`: of what is changed; it grows in the order in which changes are seen. */
export type Changing = Recorded & { version: number }

export type Changes = {
  /**
   * Carries out a change while no other is under way on any node: what it reads stays as it is until it is done. It locks that
   * first, so whatever it locks then is in the order of ids, keys before budgets, as exchanges do.
   */
  change<T>(actor: Actor, carryOut: (changing: Changing) => Promise<T>): Promise<T>
  /** Carries out what concerns one person alone, side by side with other changes. */
  record<T>(actor: Actor, carryOut: (recorded: Recorded) => Promise<T>): Promise<T>
}

const NOW = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint`
const RECORD = `SELECT ${NOW} AS now`
const CHANGE = `UPDATE versions SET n = n + 1 WHERE what = 'changes' RETURNING n AS version, ${NOW} AS now`

/**
 * `clock`: in place of the database's, for tests. `requireUsable` throws where nothing may be written any more. `manner`: of the
 * transactions.
 */
export const createChanges = (
  client: Pick<Client, 'begin'>,
  requireUsable: () => void,
  clock: (() => number) | undefined,
  manner: TransactionManner = {},
): Changes => {
  const noting =
    (tx: Orm, { kind, id }: Actor, at: number): Note =>
    async (action, target, before, after) => {
      const values = { at, actorKind: kind, actorId: id, action, target, before, after }
      const [noted] = await tx.insert(audit).values(values).returning({ row: audit.row })
      return noted?.row ?? 0
    }
  return {
    async change(actor, carryOut) {
      requireUsable()
      return client.begin(async (queries) => {
        const [begun] = await queries.query<{ version: number; now: number }>(CHANGE)
        if (begun === undefined) throw new Error('the table of versions has no row of changes')
        const tx = ormOf(queries)
        const now = clock?.() ?? begun.now
        return carryOut({ tx, note: noting(tx, actor, now), now, version: begun.version })
      }, manner)
    },
    async record(actor, carryOut) {
      requireUsable()
      return client.begin(async (queries) => {
        const [begun] = await queries.query<{ now: number }>(RECORD)
        const tx = ormOf(queries)
        const now = clock?.() ?? begun?.now ?? 0
        return carryOut({ tx, note: noting(tx, actor, now), now })
      }, manner)
    },
  }
}
