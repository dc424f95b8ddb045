// Sessions: how they are opened, and how long they last.

import { hashSecret, randomBase62 } from '../keys/secret.ts'
import { DAY_MS } from '../lib/spans.ts'
import type { Entry, Member, NewSession, Session, SessionStore, StoredSession } from './member.ts'

/** Days after sign-in until a session ends, where no admin said otherwise. */
export const SESSION_DAYS = 7
/** It ends after so long without a request, too. */
export const IDLE_MS = 7 * DAY_MS
/** What is valid for longer than this beyond its time was made while the clock was far ahead. */
export const LEEWAY_MS = DAY_MS
/** When a session was last used is written this seldom. */
const SEEN_MS = 60_000
/** What opens the gateway to others is asked for only so long after its asker has proven who they are. */
const PROVEN_MS = 5 * 60_000
/** No secret of ours is longer. */
export const LONGEST = 100
/** What a browser calls itself may be as long as it likes. */
const AGENT_LENGTH = 300

export type Sessions = {
  /**
   * `told`: the audit is told how they came in; elsewhere another entry of it does. Undefined where the password that let them
   * in is not theirs any more.
   */
  open(
    member: Member,
    entry: Entry,
    by: { told: boolean; passwordHash?: string | undefined },
  ): Promise<{ secret: string; expiresAt: number } | undefined>
  /** One that is to be stored, and its secret. */
  make(memberId: string, entry: Entry): { secret: string; made: NewSession }
  /** The session a cookie's secret opens, while it lasts. */
  find(secret: string): Promise<Session | undefined>
  /** Whether its owner has just proven who they are. */
  isProven(session: Session): boolean
  /** Those of a member that last, the one used last first. */
  of(memberId: string): Promise<StoredSession[]>
  /** Everybody's that last, in the order of the list of members. */
  all(): Promise<{ member: Member; session: StoredSession }[]>
}

/** `lengthMs`: from sign-in on. A shorter one ends the sessions there are earlier. */
type SessionsOptions = { store: SessionStore; clock: () => number; lengthMs: () => number }

export const createSessions = ({ store, clock, lengthMs }: SessionsOptions): Sessions => {
  const endOf = ({ createdAt, expiresAt }: StoredSession): number => Math.min(expiresAt, createdAt + lengthMs())
  const asItEnds = (session: StoredSession): StoredSession => ({ ...session, expiresAt: endOf(session) })
  const lasts = (session: StoredSession): boolean => {
    const now = clock()
    return endOf(session) > now && session.seenAt + IDLE_MS > now && session.createdAt <= now + LEEWAY_MS
  }
  const make: Sessions['make'] = (memberId, { peer, agent }) => {
    const now = clock()
    const secret = randomBase62(43)
    const expiresAt = now + lengthMs()
    const from = { address: peer, agent: agent?.slice(0, AGENT_LENGTH) }
    return { secret, made: { hash: hashSecret(secret), memberId, now, expiresAt, ...from } }
  }
  return {
    make,
    async open({ id }, entry, { told, passwordHash }) {
      const { secret, made } = make(id, entry)
      await store.sweep(made.now, made.now - IDLE_MS)
      return (await store.open(made, told, passwordHash)) ? { secret, expiresAt: made.expiresAt } : undefined
    },
    async find(secret) {
      if (secret.length > LONGEST) return undefined
      const found = await store.find(hashSecret(secret))
      if (found === undefined || !lasts(found.stored)) return undefined
      const { member, stored } = found
      const { hash, seenAt, provenAt } = stored
      const now = clock()
      // A clock that was set back has left a time to come.
      if (Math.abs(now - seenAt) >= SEEN_MS) void tryTo(store.seen(hash, now))
      return { member, hash, provenAt }
    },
    // A clock that was set back has left a time to come.
    isProven: ({ provenAt }) => Math.abs(clock() - provenAt) < PROVEN_MS,
    of: async (memberId) => (await store.of(memberId)).filter(lasts).map(asItEnds),
    all: async () =>
      (await store.all())
        .filter(({ stored }) => lasts(stored))
        .map(({ member, stored }) => ({ member, session: asItEnds(stored) })),
  }
}

/** On a full disk the dashboard must still show that it is full: a time of use that cannot be written is left out. */
export const tryTo = async (write: Promise<void>): Promise<void> => {
  try {
    await write
  } catch {
    // The next request tries again.
  }
}
