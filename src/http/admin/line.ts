// The line in which callers whom nobody knows wait for the rest of what they send. It is short, and whoever comes pushes out
// the one that has waited longest: what a person sends is there at once, so nobody who trickles keeps them out.

import { type GatewayError, unavailable } from '../../errors.ts'

export type Line = {
  /** Throws `service_unavailable` where so many others came meanwhile that it is pushed out. */
  wait<T>(coming: Promise<T>): Promise<T>
  waiting(): number
}

const PLACES = 16

export const createLine = (places = PLACES): Line => {
  const line = new Set<(error: GatewayError) => void>()
  const pushOut = (): void => {
    const [longest] = line
    if (longest === undefined) return
    line.delete(longest)
    longest(unavailable('is busy'))
  }
  return {
    async wait(coming) {
      const { promise: pushedOut, reject } = Promise.withResolvers<never>()
      if (line.size >= places) pushOut()
      line.add(reject)
      try {
        return await Promise.race([coming, pushedOut])
      } finally {
        line.delete(reject)
      }
    },
    waiting: () => line.size,
  }
}
