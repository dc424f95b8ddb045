// Where the host of a store is. The runtime keeps for half a minute what a name led to; one that leads to the server that has
// taken over is looked up anew as soon as the one before it fails.

import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

export type LookUp = (hostname: string) => Promise<string[]>

export type Host = {
  /** Where its name leads elsewhere than at first; until then it is found by the name. */
  address(): string | undefined
  /** Whether it is to be asked elsewhere than it was. */
  hasMoved(): Promise<boolean>
}

export const lookUp: LookUp = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address).toSorted()

const STAYS: Host = { address: () => undefined, hasMoved: () => Promise.resolve(false) }

export const hostAt = (hostname: string, look: LookUp = lookUp): Host => {
  if (isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0) return STAYS
  const addresses = (): Promise<string[]> => look(hostname).catch(() => [])
  let known = addresses()
  let address: string | undefined
  let tries = 0
  let looking: Promise<boolean> | undefined

  const find = async (): Promise<boolean> => {
    const [before, now] = [await known, await addresses()]
    const isSame = now.join() === before.join()
    if (now.length === 0 || (isSame && (address === undefined || now.length === 1))) return false
    known = Promise.resolve(now)
    // One after the other: not all of them may answer.
    tries = isSame ? tries + 1 : 0
    address = now[tries % now.length]
    return true
  }
  return {
    address: () => address,
    hasMoved() {
      looking ??= find().finally(() => {
        looking = undefined
      })
      return looking
    },
  }
}
