// What each account did, by exchanges that ended: when it was used last, how soon it answers, its last failure. What it cost is in
// the sums.

import type { Ended } from '../relay/exchange.ts'

/** Answers of which the median is told. */
const REMEMBERED = 64

export type AccountNotes = {
  lastUsedAt: number | undefined
  lastError: { at: number; model: string; errorCode: string; providerStatus: number | undefined } | undefined
  firstByteMs: number | undefined
}

export type Accounts = {
  /** `at`: milliseconds since the epoch; now where it is left out. */
  ended(exchange: Pick<Ended, 'attempts' | 'firstByteMs'>, at?: number): void
  notesOf(provider: string, account: string): AccountNotes
}

type Notes = Omit<AccountNotes, 'firstByteMs'> & { latencies: number[]; next: number }

/** `clock`: milliseconds since the epoch. */
export const createAccounts = (clock: () => number): Accounts => {
  const all = new Map<string, Notes>()
  const of = (provider: string, account: string): Notes => {
    const name = `${provider}/${account}`
    const known = all.get(name)
    if (known !== undefined) return known
    const made: Notes = { lastUsedAt: undefined, lastError: undefined, latencies: [], next: 0 }
    all.set(name, made)
    return made
  }
  return {
    ended({ attempts, firstByteMs }, at = clock()) {
      for (const [index, { provider, account, model, errorCode, providerStatus, ms }] of attempts.entries()) {
        const notes = of(provider, account)
        notes.lastUsedAt = at
        if (errorCode !== undefined) notes.lastError = { at, model, errorCode, providerStatus }
        if (index < attempts.length - 1) continue
        if (errorCode !== undefined || firstByteMs === undefined) continue
        notes.latencies[notes.next] = ms
        notes.next = (notes.next + 1) % REMEMBERED
      }
    },
    notesOf(provider, account) {
      const notes = all.get(`${provider}/${account}`)
      if (notes === undefined) return { lastUsedAt: undefined, lastError: undefined, firstByteMs: undefined }
      const { latencies, next: _, ...rest } = notes
      return { ...rest, firstByteMs: latencies.toSorted((a, b) => a - b)[latencies.length >> 1] }
    },
  }
}
