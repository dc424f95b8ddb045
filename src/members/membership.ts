// How people come in: the first admin's one-time link, invitations, passwords, sessions, and tokens for scripts.

import { GatewayError, invalidRequest } from '../errors.ts'
import { checkLabel } from '../keys/check.ts'
import type { Actor } from '../keys/key.ts'
import { hashSecret, randomBase62 } from '../keys/secret.ts'
import { DAY_MS } from '../lib/spans.ts'
import { isPlainName } from '../lib/visible.ts'
import { type Attempts, createAttempts, peerName } from './attempts.ts'
import {
  type AdminToken,
  DEFAULT_LIMITS,
  type Entry,
  type Member,
  type MemberStore,
  type NewMember,
  type Session,
  type SessionStore,
  type TokenStore,
} from './member.ts'
import { hashPassword, requireUncommon, verifyPassword } from './password.ts'

/** A session ends so long after sign-in, and after so long without a request. */
export const SESSION_MS = 30 * DAY_MS
export const IDLE_MS = 7 * DAY_MS
const INVITATION_MS = 7 * DAY_MS
/** What is valid for longer than this beyond its time was made while the clock was far ahead. */
const LEEWAY_MS = DAY_MS
/** When a session was last used is written this seldom. */
const SEEN_MS = 60_000
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
const TOKEN_PREFIX = 'sl-admin-'
/** No secret of ours is longer. */
const LONGEST = 100

export type Invited = { member: Member; token: string; expiresAt: number }

export type Membership = {
  setupNeeded(): boolean
  /** The token of this start's setup link, made anew; undefined when there is an admin. */
  offerSetup(): string | undefined
  /** Makes the first admin. Uses the link up. Throws `not_found` for a link that is not valid (any more). */
  setUp(token: string, name: string, password: string, peer: string | undefined): Promise<Member>
  /** Throws `invalid_api_key` for a wrong name or password, `rate_limit_exceeded` for too many of them. */
  signIn(name: string, password: string, peer: string | undefined): Promise<Member>
  /** Throws `not_found` for a link that is not valid (any more), here and in `accept`. */
  invited(token: string, peer: string | undefined): Promise<Member>
  accept(token: string, password: string, peer: string | undefined): Promise<Member>
  /** Adds a member, with the one-time link by which they come in. Throws `invalid_request` for a name that is taken. */
  inviteNew(member: Pick<NewMember, 'name' | 'role' | 'limits'>, actor: Actor): Invited
  /** A one-time link for a member to set a password with, valid for seven days or so long; the one before it ends. */
  invite(id: string, actor: Actor, validMs?: number): Invited
  /** Ends the member's other sessions. Throws `invalid_api_key` for a wrong password. */
  changePassword(session: Session, current: string, next: string, peer: string | undefined): Promise<void>
  /** `entry`: they came in by their password, for the audit. */
  openSession(member: Member, entry?: Entry): { secret: string; expiresAt: number }
  /** The session a cookie's secret opens, while it lasts. */
  session(secret: string): Session | undefined
  /** A token that is in force: not revoked, not expired, its maker still an admin. */
  token(secret: string): AdminToken | undefined
  /** The secret is shown once and not kept. Throws `invalid_request` for a label that does not show as it is written. */
  issueToken(label: string, expiresAt: number | undefined, by: Member): { token: AdminToken; secret: string }
}

type MembershipOptions = {
  store: { members: MemberStore; sessions: SessionStore; tokens: TokenStore }
  /** Milliseconds since the epoch. */
  clock: () => number
  /** Carries out a write that nobody else repeats where another process is writing. At once, unless it is given. */
  patiently?: <T>(write: () => T) => Promise<T>
}

export const createMembership = ({ store, clock, patiently = atOnce }: MembershipOptions): Membership => {
  const { members, sessions, tokens } = store
  const perPeer = createAttempts({ clock, most: MOST_PER_PEER, windowMs: ATTEMPTS_MS })
  const fromPeer = createAttempts({ clock, most: MOST_FROM_PEER_FOR_ACCOUNT, windowMs: ATTEMPTS_MS })
  const perAccount = createAttempts({ clock, most: MOST_PER_ACCOUNT, windowMs: ATTEMPTS_MS })
  const perAccountTold = createAttempts({ clock, most: MOST_TOLD_PER_ACCOUNT, windowMs: ATTEMPTS_MS })
  const refusalsTold = createAttempts({ clock, most: MOST_REFUSALS_TOLD, windowMs: ATTEMPTS_MS })
  let setupHash: string | undefined
  let unrecorded = 0

  /** Whether the audit takes one more row: failed sign-ins must not fill it. What it does not take is counted. */
  const mayTell = (account: string, refused: boolean): boolean => {
    try {
      perAccountTold.take(account)
      if (refused) refusalsTold.take('all')
      return true
    } catch {
      unrecorded++
      return false
    }
  }
  /** Counted before anything is checked, so that attempts side by side count too; what was right is given back. */
  const attempt = async <T>(peer: string | undefined, account: string | undefined, check: () => T | Promise<T>) => {
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

  /**
   * A check of a password, counted, and told to the audit where it fails. `account` is what was typed, so that a name
   * that is nobody's takes as long as another.
   */
  const guarded = async <T>(
    account: string,
    peer: string | undefined,
    memberId: () => string | undefined,
    check: () => Promise<T>,
  ): Promise<T> => {
    try {
      return await attempt(peer, account, check)
    } catch (error) {
      const refused = error instanceof GatewayError && error.code === 'invalid_api_key'
      if (!refused) unrecorded++
      else if (mayTell(account, true)) {
        await patiently(() => {
          sessions.refuse(memberId(), { peer, unrecorded })
          unrecorded = 0
        })
      }
      throw error
    }
  }

  const outlasts = (expiresAt: number | undefined, validMs: number): boolean =>
    expiresAt !== undefined && expiresAt > clock() + validMs + LEEWAY_MS
  const newLink = (validMs: number) => {
    const token = randomBase62(43)
    return { token, hash: hashSecret(token), expiresAt: clock() + validMs }
  }
  const checkInvited = (token: string): Member => {
    const member = token.length > LONGEST ? undefined : members.invited(hashSecret(token), clock())
    if (member === undefined || outlasts(member.invitationExpiresAt, INVITATION_MS))
      throw noLink('Ask an admin for a new one.')
    return member
  }
  const noSetup = (): GatewayError =>
    noLink(members.hasAdmin() ? 'There is an admin already: sign in.' : 'Start the server again for a new one.')
  const setupOpen = (token: string): boolean =>
    setupHash !== undefined && token.length <= LONGEST && hashSecret(token) === setupHash && !members.hasAdmin()

  return {
    setupNeeded: () => !members.hasAdmin(),
    offerSetup() {
      if (members.hasAdmin()) return undefined
      const token = randomBase62(43)
      setupHash = hashSecret(token)
      return token
    },
    setUp: (token, name, password, peer) =>
      attempt(peer, undefined, async () => {
        if (!setupOpen(token)) throw noSetup()
        const called = cleanName(name)
        await requireUncommon(password, called)
        const passwordHash = await hashPassword(password)
        return patiently(() => {
          // Two who come with the same link: the password took a while, and the first has used it up.
          if (!setupOpen(token)) throw noSetup()
          const limits = DEFAULT_LIMITS
          const member = members.add(
            { name: called, role: 'admin', limits, passwordHash },
            { kind: 'system', id: 'setup' },
          )
          setupHash = undefined
          return member
        })
      }),
    signIn(name, password, peer) {
      const typed = name.trim().normalize('NFC')
      const idOf = () => members.credentials(typed)?.member.id
      return guarded(`name:${typed.toLowerCase()}`, peer, idOf, async () => {
        const found = members.credentials(typed)
        if (!(await verifyPassword(password, found?.passwordHash)) || found === undefined) throw wrongPassword()
        // While it was checked, the member may have been removed or the password changed.
        const now = members.credentials(found.member.name)
        if (now === undefined || now.passwordHash !== found.passwordHash) throw wrongPassword()
        return now.member
      })
    },
    async changePassword({ member, hash }, current, next, peer) {
      const found = await guarded(
        `id:${member.id}`,
        peer,
        () => member.id,
        async () => {
          const found = members.credentials(member.name)
          if (!(await verifyPassword(current, found?.passwordHash)) || found === undefined)
            throw wrongPassword('The current password is not right.')
          return found
        },
      )
      await requireUncommon(next, member.name)
      const passwordHash = await hashPassword(next)
      await patiently(() => {
        // While it was made, a link may have set another password, or the session have been ended from elsewhere.
        const now = members.credentials(found.member.name)
        if (now?.passwordHash !== found.passwordHash || sessions.find(hash) === undefined)
          throw wrongPassword('The password was changed or the session ended meanwhile. Sign in again.')
        members.setPassword(member.id, passwordHash, hash, { kind: 'member', id: member.id })
      })
    },
    invited: (token, peer) => attempt(peer, undefined, () => checkInvited(token)),
    accept: (token, password, peer) =>
      attempt(peer, undefined, async () => {
        await requireUncommon(password, checkInvited(token).name)
        const passwordHash = await hashPassword(password)
        const member = await patiently(() => members.accept(hashSecret(token), passwordHash, clock()))
        if (member === undefined) throw noLink('Ask an admin for a new one.')
        return member
      }),
    inviteNew({ name, ...member }, actor) {
      const { token, hash, expiresAt } = newLink(INVITATION_MS)
      const invitation = { hash, expiresAt }
      return { member: members.add({ ...member, name: cleanName(name), invitation }, actor), token, expiresAt }
    },
    invite(id, actor, validMs = INVITATION_MS) {
      const { token, hash, expiresAt } = newLink(validMs)
      return { member: members.invite(id, { hash, expiresAt }, actor), token, expiresAt }
    },
    openSession(member, entry) {
      const now = clock()
      const secret = randomBase62(43)
      const expiresAt = now + SESSION_MS
      sessions.sweep(now, now - IDLE_MS)
      const told = entry !== undefined && mayTell(`in:${member.id}`, false) ? entry : undefined
      sessions.open({ hash: hashSecret(secret), memberId: member.id, now, expiresAt }, told)
      return { secret, expiresAt }
    },
    session(secret) {
      if (secret.length > LONGEST) return undefined
      const found = sessions.find(hashSecret(secret))
      const now = clock()
      if (found === undefined || found.expiresAt <= now || found.seenAt + IDLE_MS <= now) return undefined
      if (outlasts(found.expiresAt, SESSION_MS)) return undefined
      // A clock that was set back has left a time to come.
      if (Math.abs(now - found.seenAt) >= SEEN_MS) tryTo(() => sessions.seen(found.hash, now))
      return { member: found.member, hash: found.hash, createdAt: found.createdAt }
    },
    token(secret) {
      if (!secret.startsWith(TOKEN_PREFIX) || secret.length > LONGEST) return undefined
      const found = tokens.find(hashSecret(secret))
      const now = clock()
      if (found === undefined || found.revokedAt !== undefined) return undefined
      if (found.expiresAt !== undefined && found.expiresAt <= now) return undefined
      const maker = found.createdBy === undefined ? undefined : members.get(found.createdBy)
      if (maker?.role !== 'admin') return undefined
      if (Math.abs(now - (found.usedAt ?? 0)) >= SEEN_MS) tryTo(() => tokens.used(found.id, now))
      return found
    },
    issueToken(typed, expiresAt, by) {
      const label = typed.trim()
      checkLabel(label, 'token')
      const secret = TOKEN_PREFIX + randomBase62(43)
      const made = { label, hash: hashSecret(secret), createdBy: by.id, expiresAt }
      return { token: tokens.add(made, { kind: 'member', id: by.id }), secret }
    },
  }
}

const atOnce = async <T>(write: () => T): Promise<T> => write()

/** On a full disk the dashboard must still show that it is full: a time of use that cannot be written is left out. */
const tryTo = (write: () => void): void => {
  try {
    write()
  } catch {
    // The next request tries again.
  }
}

/** A name as it is kept. Throws `invalid_request`. */
export const cleanName = (name: string): string => {
  const clean = name.trim().normalize('NFC')
  if (isPlainName(clean)) return clean
  throw invalidRequest('A name needs at least one character, and no invisible ones.', 'name')
}

const wrongPassword = (message = 'The name or the password is not right.'): GatewayError =>
  new GatewayError('invalid_api_key', message)

const noLink = (then: string): GatewayError =>
  new GatewayError('not_found', `This link was used, has expired or was never valid. ${then}`)
