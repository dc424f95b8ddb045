// What more than one part of the store does with members.

import { eq } from 'drizzle-orm'
import type { Recorded } from './change.ts'
import { recoveryCodes, secondFactors } from './schema.ts'

/** Nothing where there is none. */
export const removeFactor = async ({ tx, note }: Recorded, memberId: string): Promise<void> => {
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.memberId, memberId))
  const removed = await tx.delete(secondFactors).where(eq(secondFactors.memberId, memberId)).returning()
  if (removed.length > 0) await note('second-factor.remove', memberId, null, null)
}
