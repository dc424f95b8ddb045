// The guard at the door: counts attempts to come in, and tells the audit of those that failed.

import { GatewayError } from '../errors.ts'
import { type Attempts, createAttempts, peerName } from './attempts.ts'
import type { SessionStore } from './member.ts'

export type Guard = {
  /** Counted before anything is checked, so that attempts side by side count too; what was right is given back. */
  attempt<T>(peer: string | undefined, account: string | undefined, check: () => T | Promise<T>): Promise<T>
  /**
   * A check of a password, counted, and told to the audit where it fails. `account` is what was typed, so that a name
   * that is nobody's takes as long as another.
   */
  guarded<T>(
    account: string,
    peer: string | undefined,
    memberId: () => Promise<string | undefined>,
    check: () => Promise<T>,
  ): Promise<T>
  /** Whether the audit takes one more row of an account: sign-ins must not fill it. */
  mayTell(account: string): boolean
}

const ATTEMPTS_MS = 15 * 60_000
/**
 * Wrong passwords within that time: for one account from one address, and from one address for any. From all addresses
 * together an account takes more, or someone with a few of them could lock its owner out.
 */
const MOST_FROM_PEER_FOR_ACCOUNT = 10
const MOST_PER_PEER = 30
const MOST_PER_ACCOUNT = 100
/** Rows the audit takes of sign-ins within the same time: of one account, and refused ones of all together. */
const MOST_TOLD_PER_ACCOUNT = 20
const MOST_REFUSALS_TOLD = 30

type GuardOptions = {
  sessions: Pick<SessionStore, 'refuse'>
  clock: () => number
}

export const createGuard = ({ sessions, clock }: GuardOptions): Guard => {
  const counting = (most: number): Attempts => createAttempts({ clock, most, windowMs: ATTEMPTS_MS })
  const perPeer = counting(MOST_PER_PEER)
  const fromPeer = counting(MOST_FROM_PEER_FOR_ACCOUNT)
  const perAccount = counting(MOST_PER_ACCOUNT)
  const perAccountTold = counting(MOST_TOLD_PER_ACCOUNT)
  const refusalsTold = counting(MOST_REFUSALS_TOLD)
  let unrecorded = 0

  /** What the audit does not take is counted. */
  const tell = (account: string, refused: boolean): boolean => {
    try {
      perAccountTold.take(account)
      if (refused) refusalsTold.take('all')
      return true
    } catch {
      unrecorded++
      return false
    }
  }
  const attempt: Guard['attempt'] = async (peer, account, check) => {
    const from = peerName(peer)
    const limits: [Attempts, string][] = [[perPeer, from]]
    if (account !== undefined) limits.push([fromPeer, `${from} ${account}`], [perAccount, account])
    const taken: typeof limits = []
    const giveBack = (): void => {
      for (const [limit, name] of taken) limit.giveBack(name)
    }
    try {
      for (const [limit, name] of limits) {
        limit.take(name)
        taken.push([limit, name])
      }
    } catch (error) {
      giveBack()
      throw error
    }
    const result = await check()
    giveBack()
    return result
  }
  return {
    attempt,
    async guarded(account, peer, memberId, check) {
      try {
        return await attempt(peer, account, check)
      } catch (error) {
        const refused = error instanceof GatewayError && error.code === 'invalid_api_key'
        if (!refused) unrecorded++
        else if (tell(account, true)) {
          const by = error.param === 'code' ? 'code' : 'password'
          const told = unrecorded
          unrecorded = 0
          try {
            await sessions.refuse(await memberId(), { peer, unrecorded: told, by })
          } catch (cause) {
            unrecorded += told
            throw cause
          }
        }
        throw error
      }
    },
    mayTell: (account) => tell(account, false),
  }
}
