// Second factors in SQLite, and the codes that stand in for them.

import { and, count, eq, gt, isNotNull, isNull, lt, ne, or } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { invalidRequest } from '../../errors.ts'
import type { FactorStore } from '../../members/member.ts'
import type { Change, Transaction } from './change.ts'
import type { AtOnce } from './patient.ts'
import { removeFactor } from './people.ts'
import { recoveryCodes, sessions, secondFactors as table } from './schema.ts'

export const createFactors = (orm: BunSQLiteDatabase, change: Change, clock: () => number): AtOnce<FactorStore> => ({
  get(memberId) {
    const row = orm.select().from(table).where(eq(table.memberId, memberId)).get()
    if (row === undefined) return undefined
    const codes = orm.select({ left: count() }).from(recoveryCodes).where(eq(recoveryCodes.memberId, memberId)).get()
    return { secret: row.secret, confirmed: row.confirmedAt !== null, codes: codes?.left ?? 0 }
  },
  enabled: () =>
    new Set(
      orm
        .select({ id: table.memberId })
        .from(table)
        .where(isNotNull(table.confirmedAt))
        .all()
        .map(({ id }) => id),
    ),
  offer: (memberId, secret) =>
    change({ kind: 'member', id: memberId }, (tx, note) => {
      const set = { secret, createdAt: clock(), lastStep: null }
      const offered = tx
        .insert(table)
        .values({ memberId, ...set })
        .onConflictDoUpdate({ target: table.memberId, set, setWhere: isNull(table.confirmedAt) })
        .returning()
        .get()
      if (offered === undefined) throw invalidRequest('There is a second factor already. Remove it first.')
      note('second-factor.offer', memberId, null, null)
    }),
  confirm: (memberId, { step, codes, keep }) =>
    change({ kind: 'member', id: memberId }, (tx, note) => {
      const offered = and(eq(table.memberId, memberId), isNull(table.confirmedAt))
      const confirmed = tx.update(table).set({ confirmedAt: clock(), lastStep: step }).where(offered).returning().all()
      // Another page was quicker, and shows the codes that hold.
      if (confirmed.length === 0) throw invalidRequest('Begin anew: nothing waits to be confirmed.')
      writeCodes(tx, memberId, codes)
      const others = and(eq(sessions.memberId, memberId), ne(sessions.hash, keep))
      tx.delete(sessions).where(others).run()
      note('second-factor.enable', memberId, null, null)
    }),
  takeStep: (memberId, step, latest) =>
    orm.transaction((tx) => {
      // One that is later than can be was taken while the clock was wrong.
      const fresh = or(isNull(table.lastStep), lt(table.lastStep, step), gt(table.lastStep, latest))
      const own = and(eq(table.memberId, memberId), isNotNull(table.confirmedAt), fresh)
      return tx.update(table).set({ lastStep: step }).where(own).returning().get() !== undefined
    }),
  takeCode: (memberId, hash) =>
    change({ kind: 'member', id: memberId }, (tx, note) => {
      const own = and(eq(recoveryCodes.memberId, memberId), eq(recoveryCodes.hash, hash))
      if (tx.delete(recoveryCodes).where(own).returning().get() === undefined) return false
      const left = tx.select().from(recoveryCodes).where(eq(recoveryCodes.memberId, memberId)).all().length
      note('second-factor.recover', memberId, null, { left })
      return true
    }),
  renewCodes: (memberId, codes) =>
    change({ kind: 'member', id: memberId }, (tx, note) => {
      writeCodes(tx, memberId, codes)
      note('second-factor.renew-codes', memberId, null, null)
    }),
  remove: (memberId, actor) => change(actor, (tx, note) => removeFactor(tx, note, memberId)),
})

const writeCodes = (tx: Transaction, memberId: string, codes: readonly string[]): void => {
  tx.delete(recoveryCodes).where(eq(recoveryCodes.memberId, memberId)).run()
  tx.insert(recoveryCodes)
    .values(codes.map((hash) => ({ memberId, hash })))
    .run()
}
