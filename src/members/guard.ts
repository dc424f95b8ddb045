// The guard at the door: counts attempts to come in, and tells the audit of those that failed.

import { GatewayError } from '../errors.ts'
import { type AttemptLimit, type AttemptStore, peerName, takeAttempt } from './attempts.ts'
import type { SessionStore } from './member.ts'

type Guard = {
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
  mayTell(account: string): Promise<boolean>
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
  attempts: AttemptStore
}

export const createGuard = ({ sessions, attempts }: GuardOptions): Guard => {
  let unrecorded = 0

  /** What the audit does not take is counted. */
  const tell = async (account: string, refused: boolean): Promise<boolean> => {
    const limits = [limitOf('told', account, MOST_TOLD_PER_ACCOUNT)]
    if (refused) limits.push(limitOf('told', '', MOST_REFUSALS_TOLD))
    const isTaken = 'taken' in (await attempts.take(limits))
    if (!isTaken) unrecorded++
    return isTaken
  }
  const attempt: Guard['attempt'] = async (peer, account, check) => {
    const from = peerName(peer)
    const limits = [limitOf('peer', from, MOST_PER_PEER)]
    if (account !== undefined) {
      limits.push(limitOf('peer', `${from} ${account}`, MOST_FROM_PEER_FOR_ACCOUNT))
      limits.push(limitOf('account', account, MOST_PER_ACCOUNT))
    }
    const taken = await takeAttempt(attempts, limits)
    const result = await check()
    await attempts.giveBack(taken)
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
        else if (await tell(account, true)) {
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

/** What counts for one thing counts for no other of the same name. */
const limitOf = (what: string, name: string, most: number): AttemptLimit => ({
  name: `${what} ${name}`,
  ...{ most, windowMs: ATTEMPTS_MS },
})
