// Second factors in PostgreSQL, and the codes that stand in for them. Codes are taken by one statement: once, over all nodes.

import { and, count, eq, gt, isNotNull, isNull, lt, ne, or } from 'drizzle-orm'
import { invalidRequest } from '../../errors.ts'
import type { FactorStore } from '../../members/member.ts'
import type { Changes, Recorded } from './change.ts'
import type { Orm } from './orm.ts'
import { removeFactor } from './people.ts'
import { recoveryCodes, sessions, secondFactors as table } from './schema.ts'

export const createFactors = (orm: Orm, { record }: Changes): FactorStore => ({
  async get(memberId) {
    const [row] = await orm.select().from(table).where(eq(table.memberId, memberId))
    if (row === undefined) return undefined
    return { secret: row.secret, confirmed: row.confirmedAt !== null, codes: await codesLeft(orm, memberId) }
  },
  enabled: async () =>
    new Set(
      (await orm.select({ id: table.memberId }).from(table).where(isNotNull(table.confirmedAt))).map(({ id }) => id),
    ),
  offer: (memberId, secret) =>
    record({ kind: 'member', id: memberId }, async ({ tx, note, now }) => {
      const set = { secret, createdAt: now, lastStep: null }
      const offered = await tx
        .insert(table)
        .values({ memberId, ...set })
        .onConflictDoUpdate({ target: table.memberId, set, setWhere: isNull(table.confirmedAt) })
        .returning({ id: table.memberId })
      if (offered.length === 0) throw invalidRequest('There is a second factor already. Remove it first.')
      await note('second-factor.offer', memberId, null, null)
    }),
  confirm: (memberId, { step, codes, keep }) =>
    record({ kind: 'member', id: memberId }, async (recorded) => {
      const { tx, note, now } = recorded
      const offered = and(eq(table.memberId, memberId), isNull(table.confirmedAt))
      const confirmed = await tx.update(table).set({ confirmedAt: now, lastStep: step }).where(offered).returning()
      // Another page was quicker, and shows the codes that hold.
      if (confirmed.length === 0) throw invalidRequest('Begin anew: nothing waits to be confirmed.')
      await writeCodes(recorded, memberId, codes)
      await tx.delete(sessions).where(and(eq(sessions.memberId, memberId), ne(sessions.hash, keep)))
      await note('second-factor.enable', memberId, null, null)
    }),
  async takeStep(memberId, step, latest) {
    // One that is later than can be was taken while the clock was wrong.
    const fresh = or(isNull(table.lastStep), lt(table.lastStep, step), gt(table.lastStep, latest))
    const own = and(eq(table.memberId, memberId), isNotNull(table.confirmedAt), fresh)
    return (await orm.update(table).set({ lastStep: step }).where(own).returning({ id: table.memberId })).length > 0
  },
  takeCode: (memberId, hash) =>
    record({ kind: 'member', id: memberId }, async ({ tx, note }) => {
      const own = and(eq(recoveryCodes.memberId, memberId), eq(recoveryCodes.hash, hash))
      if ((await tx.delete(recoveryCodes).where(own).returning()).length === 0) return false
      await note('second-factor.recover', memberId, null, { left: await codesLeft(tx, memberId) })
      return true
    }),
  renewCodes: (memberId, codes) =>
    record({ kind: 'member', id: memberId }, async (recorded) => {
      await writeCodes(recorded, memberId, codes)
      await recorded.note('second-factor.renew-codes', memberId, null, null)
    }),
  remove: (memberId, actor) => record(actor, (recorded) => removeFactor(recorded, memberId)),
})

const codesLeft = async (tx: Orm, memberId: string): Promise<number> => {
  const [codes] = await tx.select({ left: count() }).from(recoveryCodes).where(eq(recoveryCodes.memberId, memberId))
  return codes?.left ?? 0
}

const writeCodes = async ({ tx }: Recorded, memberId: string, codes: readonly string[]): Promise<void> => {
  // Its row is locked first: of two who renew them at once, the codes of the second hold alone.
  await tx.select({ id: table.memberId }).from(table).where(eq(table.memberId, memberId)).for('update')
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.memberId, memberId))
  await tx.insert(recoveryCodes).values(codes.map((hash) => ({ memberId, hash })))
}
