// What more than one part of the store does with members and their sessions.

import { eq } from 'drizzle-orm'
import type { NewSession } from '../../members/member.ts'
import { sessionRow } from '../rows/people.ts'
import type { Note, Transaction } from './change.ts'
import { recoveryCodes, secondFactors, sessions } from './schema.ts'

export const insertSession = (tx: Pick<Transaction, 'insert'>, session: NewSession): void => {
  tx.insert(sessions).values(sessionRow(session)).run()
}

/** Nothing where there is none. */
export const removeFactor = (tx: Pick<Transaction, 'delete'>, note: Note, memberId: string): void => {
  tx.delete(recoveryCodes).where(eq(recoveryCodes.memberId, memberId)).run()
  const removed = tx.delete(secondFactors).where(eq(secondFactors.memberId, memberId)).returning().get()
  if (removed !== undefined) note('second-factor.remove', memberId, null, null)
}
