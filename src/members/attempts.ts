// Limits attempts to sign in: so many per name within a sliding window, the next one exactly when the oldest has left it.

import { GatewayError } from '../errors.ts'
import { createRecent } from '../lib/recent.ts'

export type Attempts = {
  /** Counts an attempt. Throws `rate_limit_exceeded` with a truthful `retryAfterMs`, having counted nothing. */
  take(name: string): void
  /** Takes the last attempt back: it was no guess. */
  giveBack(name: string): void
}

/** `clock`: milliseconds since the epoch. */
type AttemptsOptions = { clock: () => number; most: number; windowMs: number }

/** Names remembered at once; past them the oldest are forgotten, so that invented names cannot fill the memory. */
const MOST_NAMES = 10_000

export const createAttempts = ({ clock, most, windowMs }: AttemptsOptions): Attempts => {
  const times = createRecent<string, number[]>(MOST_NAMES)
  const recent = (name: string, now: number): number[] =>
    (times.get(name) ?? []).filter((time) => time > now - windowMs && time <= now)
  return {
    take(name) {
      const now = clock()
      const kept = recent(name, now)
      const oldest = kept[kept.length - most]
      if (oldest !== undefined) {
        const retryAfterMs = oldest + windowMs - now
        const seconds = Math.ceil(retryAfterMs / 1000)
        throw new GatewayError('rate_limit_exceeded', `Too many attempts to sign in. Try again in ${seconds} s.`, {
          retryAfterMs,
        })
      }
      times.set(name, [...kept, now])
    },
    giveBack(name) {
      times.get(name)?.pop()
    },
  }
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
