// Limits attempts to sign in: so many per name within a sliding window, the next one exactly when the oldest has left it.

import { GatewayError } from '../errors.ts'
import { createRecent } from '../lib/recent.ts'

/** One limit that an attempt counts against. */
export type AttemptLimit = { name: string; most: number; windowMs: number }

/** Counts them: in memory, or in a database for all nodes together. */
export type AttemptStore = {
  /**
   * Counts an attempt against all of the limits, or none. `taken`: what gives it back. `waitMs`: until the first that is full
   * has room again.
   */
  take(limits: readonly AttemptLimit[]): Promise<{ taken: number[] } | { waitMs: number }>
  /** Takes it back: it was no guess. */
  giveBack(taken: readonly number[]): Promise<void>
}

/** Names remembered at once; past them the oldest are forgotten, so that invented names cannot fill the memory. */
const MOST_NAMES = 10_000

export const createAttempts = (clock: () => number): AttemptStore => {
  const times = createRecent<string, { row: number; at: number }[]>(MOST_NAMES)
  const names = createRecent<number, string>(MOST_NAMES)
  let last = 0
  return {
    async take(limits) {
      const now = clock()
      const recent = limits.map(({ name, windowMs }) =>
        (times.get(name) ?? []).filter(({ at }) => at > now - windowMs && at <= now),
      )
      for (const [i, { most, windowMs }] of limits.entries()) {
        const oldest = recent[i]?.at(-most)
        if (oldest !== undefined) return { waitMs: oldest.at + windowMs - now }
      }
      const taken = limits.map(({ name }, i) => {
        const row = ++last
        times.set(name, [...(recent[i] ?? []), { row, at: now }])
        names.set(row, name)
        return row
      })
      return { taken }
    },
    async giveBack(taken) {
      for (const row of taken) {
        const name = names.get(row)
        const kept = name === undefined ? undefined : times.get(name)
        if (name !== undefined && kept !== undefined)
          times.set(
            name,
            kept.filter((each) => each.row !== row),
          )
      }
    },
  }
}

/** Throws `rate_limit_exceeded` with a truthful `retryAfterMs`, having counted nothing. */
export const takeAttempt = async (attempts: AttemptStore, limits: readonly AttemptLimit[]): Promise<number[]> => {
  const answer = await attempts.take(limits)
  if ('taken' in answer) return answer.taken
  const { waitMs: retryAfterMs } = answer
  const seconds = Math.ceil(retryAfterMs / 1000)
  throw new GatewayError('rate_limit_exceeded', `Too many attempts to sign in. Try again in ${seconds} s.`, {
    retryAfterMs,
  })
}

/** What counts as one peer: an address, or the network a single subscriber of IPv6 has. */
export const peerName = (written: string | undefined): string => {
  if (written === undefined) return 'unknown'
  // Some proxies forward the port too, which is another with every connection.
  const address = /^\[(.+)\](?::\d+)?$/.exec(written)?.[1] ?? written.replace(/^([\d.]+):\d+$/, '$1')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!address.includes(':')) return address
  const [head = '', tail] = address.toLowerCase().split('::')
  const groups = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  if (tail !== undefined)
    groups.push(...Array<string>(Math.max(0, 8 - groups.length - after.length)).fill('0'), ...after)
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
