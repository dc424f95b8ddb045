// What a request at the door is told by the windows of its key.

import type { Key, RateLimits } from '../../../keys/key.ts'
import { unknownKey } from '../../../keys/secret.ts'
import type { Limited, LimitState } from '../../../ledger/limit-headers.ts'
import { limitReached, limitsOf, tooManyAtOnce } from '../../../ledger/limits.ts'
import { toShared, type Verdict } from '../../../ledger/shared.ts'

/** `now`: milliseconds since the epoch. The arrays go together: seconds, and what was counted in each. */
export type EnteredRow = {
  at: number
  said: string
  now: number
  seconds: number[]
  requests: number[]
  tokens: number[]
  active: number
}

/** An amount counts from its second for so many more. */
const COUNTED_S = 60

export const enteredVerdict = (row: EnteredRow, key: Key | undefined, defaults: RateLimits): Verdict => {
  if (key === undefined || row.said === 'dead') return { error: toShared(unknownKey()) }
  const limits = limitsOf(key, defaults)
  const told: Limited = {
    requests: limits.rpm > 0 ? stateOf(row, row.requests, limits.rpm) : undefined,
    tokens: limits.tpm > 0 ? stateOf(row, row.tokens, limits.tpm) : undefined,
  }
  if (row.said === 'ok') return { limits: told }
  if (row.said === 'busy') return { error: toShared(tooManyAtOnce(limits.concurrency)), limits: told }
  const requestsMs = limits.rpm > 0 ? waitFor(row, row.requests, limits.rpm) : 0
  const tokensMs = limits.tpm > 0 ? waitFor(row, row.tokens, limits.tpm) : 0
  return { error: toShared(limitReached(limits, requestsMs, tokensMs)), limits: told }
}

const endOf = (second: number): number => (second + COUNTED_S + 1) * 1_000

const counted = ({ seconds, now }: EnteredRow, amounts: readonly number[]) =>
  seconds.flatMap((second, i) => {
    const amount = amounts[i] ?? 0
    return amount > 0 && endOf(second) > now ? [{ end: endOf(second), amount }] : []
  })

const stateOf = (row: EnteredRow, amounts: readonly number[], limit: number): LimitState => {
  const all = counted(row, amounts)
  const sum = all.reduce((of, { amount }) => of + amount, 0)
  const end = all.at(-1)?.end ?? row.now
  return { limit, remaining: Math.max(0, limit - sum), resetMs: end - row.now }
}

/** Milliseconds until the sum is below the limit if nothing is added. */
const waitFor = (row: EnteredRow, amounts: readonly number[], limit: number): number => {
  const all = counted(row, amounts)
  let sum = all.reduce((of, { amount }) => of + amount, 0)
  if (sum < limit) return 0
  for (const { end, amount } of all) {
    sum -= amount
    if (sum < limit) return end - row.now
  }
  return 0
}
