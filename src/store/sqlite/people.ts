// Members, their sessions, admin tokens and settings in SQLite. Every change with its audit row, or neither.

import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { Actor } from '../../keys/key.ts'
import type { Store } from '../store.ts'
import { createMembers } from './members.ts'
import { audit } from './schema.ts'
import { createSessions } from './sessions.ts'
import { createSettings } from './settings.ts'
import { createTokens } from './tokens.ts'

export type Transaction = Parameters<Parameters<BunSQLiteDatabase['transaction']>[0]>[0]

/** Carries out a change and writes what it says of itself, together. */
export type Change = <T>(actor: Actor, carryOut: (tx: Transaction, note: Note) => T) => T
/** `before` and `after` without secrets or their hashes; null: there was, or is, none. */
export type Note = (action: string, target: string, before: unknown, after: unknown) => void

export const createPeople = (
  orm: BunSQLiteDatabase,
  clock: () => number,
): Pick<Store, 'members' | 'sessions' | 'tokens' | 'settings'> => {
  const change: Change = (actor, carryOut) =>
    orm.transaction(
      (tx) =>
        carryOut(tx, (action, target, before, after) => {
          const row = { at: clock(), actorKind: actor.kind, actorId: actor.id, action, target, before, after }
          tx.insert(audit).values(row).run()
        }),
      { behavior: 'immediate' },
    )
  return {
    members: createMembers(orm, change, clock),
    sessions: createSessions(orm, change),
    tokens: createTokens(orm, change, clock),
    settings: createSettings(orm, change, clock),
  }
}
