// A change and its row in the audit: both are written, or neither.

import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { Actor } from '../../keys/key.ts'
import { audit } from './schema.ts'

export type Transaction = Parameters<Parameters<BunSQLiteDatabase['transaction']>[0]>[0]

/** Writes a row of the audit. `before` and `after` without secrets or their hashes; null: there was, or is, none. */
export type Note = (action: string, target: string, before: unknown, after: unknown) => void
/** Carries out a change and writes its rows of the audit in one transaction. */
export type Change = <T>(actor: Actor, carryOut: (tx: Transaction, note: Note) => T) => T

/** `clock`: milliseconds since the epoch. */
export const createChange =
  (orm: BunSQLiteDatabase, clock: () => number): Change =>
  (actor, carryOut) =>
    orm.transaction(
      (tx) =>
        carryOut(tx, (action, target, before, after) => {
          const row = { at: clock(), actorKind: actor.kind, actorId: actor.id, action, target, before, after }
          tx.insert(audit).values(row).run()
        }),
      { behavior: 'immediate' },
    )
