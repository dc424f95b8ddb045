// Rows of members and of their sessions, as more than one part of the store reads and writes them.

import { eq } from 'drizzle-orm'
import { DEFAULT_LIMITS, type Member, type NewSession } from '../../members/member.ts'
import type { Note, Transaction } from './change.ts'
import { type members, recoveryCodes, secondFactors, sessions } from './schema.ts'

export const toMember = (row: typeof members.$inferSelect): Member => ({
  id: row.id,
  name: row.name,
  role: row.role,
  active: row.passwordHash !== null,
  limits: row.limits ?? DEFAULT_LIMITS,
  teamId: row.teamId ?? undefined,
  createdAt: row.createdAt,
  invitationExpiresAt: row.invitationHash === null ? undefined : (row.invitationExpiresAt ?? undefined),
})

export const insertSession = (
  tx: Pick<Transaction, 'insert'>,
  { now, address, agent, ...session }: NewSession,
): void => {
  tx.insert(sessions)
    .values({ ...session, createdAt: now, seenAt: now, address: address ?? null, agent: agent ?? null })
    .run()
}

/** Nothing where there is none. */
export const removeFactor = (tx: Pick<Transaction, 'delete'>, note: Note, memberId: string): void => {
  tx.delete(recoveryCodes).where(eq(recoveryCodes.memberId, memberId)).run()
  const removed = tx.delete(secondFactors).where(eq(secondFactors.memberId, memberId)).returning().get()
  if (removed !== undefined) note('second-factor.remove', memberId, null, null)
}
