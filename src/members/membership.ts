// How people come in: the first admin's one-time link, invitations, passwords, sessions, and tokens for scripts.

import { GatewayError, invalidRequest } from '../errors.ts'
import { checkLabel } from '../keys/check.ts'
import type { Actor } from '../keys/key.ts'
import { hashSecret, makeSecret, randomBase62, TOKEN_PREFIX } from '../keys/secret.ts'
import { DAY_MS } from '../lib/spans.ts'
import { isPlainName } from '../lib/visible.ts'
import { type AttemptStore, createAttempts } from './attempts.ts'
import { createGuard } from './guard.ts'
import {
  type AdminToken,
  DEFAULT_LIMITS,
  type Entrant,
  type Entry,
  type FactorStore,
  type Member,
  type MemberStore,
  type NewMember,
  type Session,
  type SessionStore,
  type StoredSession,
  type TokenStore,
} from './member.ts'
import { hashPassword, requireUncommon, verifyPassword } from './password.ts'
import { createSecondFactor, missingCode, type SecondFactor } from './second-factor.ts'
import { createSessions, LEEWAY_MS, LONGEST, SESSION_DAYS, tryTo } from './sessions.ts'
import { createSetupLinks, type SetupLinks } from './setup-links.ts'

const INVITATION_MS = 7 * DAY_MS
/** When a token was last used is written this seldom. */
const USED_MS = 60_000

export type Invited = { member: Member; token: string; expiresAt: number }

/** Whom a link is for; `needsCode`: of their second factor. */
export type Guest = { member: Member; needsCode: boolean }

/** The secret of a session, for its cookie. */
export type Opened = { secret: string; expiresAt: number }

export type Membership = {
  setupNeeded(): Promise<boolean>
  /** The token of this start's setup link, made anew; undefined when there is an admin. */
  offerSetup(): Promise<string | undefined>
  /** Makes the first admin. Uses the link up. Throws `not_found` for a link that is not valid (any more). */
  setUp(token: string, name: string, password: string, peer: string | undefined): Promise<Entrant>
  /**
   * Throws `invalid_api_key` for a wrong name or password, and for a wrong or missing code where the member has a second
   * factor (then it names `code`); `rate_limit_exceeded` for too many of them.
   */
  signIn(name: string, password: string, peer: string | undefined, code?: string): Promise<Entrant>
  /** Throws `not_found` for a link that is not valid (any more), here and in `accept`. */
  invited(token: string, peer: string | undefined): Promise<Guest>
  /** Who has a second factor needs it here, too. */
  accept(token: string, password: string, peer: string | undefined, code?: string): Promise<Entrant>
  /** Adds a member, with the one-time link by which they come in. Throws `invalid_request` for a name that is taken. */
  inviteNew(member: Pick<NewMember, 'name' | 'role' | 'limits'>, actor: Actor): Promise<Invited>
  /** A one-time link for a member to set a password with, valid for seven days or so long; the one before it ends. */
  invite(id: string, actor: Actor, options?: { validMs?: number; endsFactor?: boolean }): Promise<Invited>
  /** Ends all sessions of the member and opens one in their place. Throws `invalid_api_key` for a wrong password. */
  changePassword(session: Session, current: string, next: string, entry?: Entry): Promise<Opened>
  /** By what signing in takes. Throws as that does. */
  prove(session: Session, password: string, peer: string | undefined, code?: string): Promise<void>
  factor: SecondFactor
  /** Whether who is signed in has just proven who they are: what opens the gateway to others needs that. */
  isProven(session: Session): boolean
  /**
   * `passwordHash`: of the password that let them in. Throws `invalid_api_key` where it is not theirs any more. `signedIn`: for
   * the audit, which tells the other ways in by themselves.
   */
  openSession(member: Member, entry?: Entry, by?: { passwordHash?: string; signedIn?: boolean }): Promise<Opened>
  /** The session a cookie's secret opens, while it lasts. */
  session(secret: string): Promise<Session | undefined>
  /** Those of a member that last, the one used last first. */
  sessionsOf(memberId: string): Promise<StoredSession[]>
  /** Everybody's that last, in the order of the list of members. */
  allSessions(): Promise<{ member: Member; session: StoredSession }[]>
  /** A token that is in force: not revoked, not expired, its maker still an admin. */
  token(secret: string): Promise<AdminToken | undefined>
  /** The secret is shown once and not kept. Throws `invalid_request` for a label that does not show as it is written. */
  issueToken(label: string, expiresAt: number | undefined, by: Member): Promise<{ token: AdminToken; secret: string }>
}

type MembershipOptions = {
  store: { members: MemberStore; sessions: SessionStore; factors: FactorStore; tokens: TokenStore }
  /** Milliseconds since the epoch. */
  clock: () => number
  /** How long a session lasts, in days. */
  sessionDays?: () => number
  /** What is counted and offered here counts and holds at other nodes too; in memory where there are none. */
  attempts?: AttemptStore
  setupLinks?: SetupLinks
}

const UNKNOWN: Entry = { peer: undefined, agent: undefined }

export const createMembership = ({
  store,
  clock,
  sessionDays = () => SESSION_DAYS,
  attempts = createAttempts(clock),
  setupLinks = createSetupLinks(),
}: MembershipOptions): Membership => {
  const { members, tokens } = store
  const { attempt, guarded, mayTell } = createGuard({ sessions: store.sessions, attempts })
  const sessions = createSessions({ store: store.sessions, clock, lengthMs: () => sessionDays() * DAY_MS })
  const factor = createSecondFactor({ store: store.factors, attempts, clock })

  const outlasts = (expiresAt: number | undefined, validMs: number): boolean =>
    expiresAt !== undefined && expiresAt > clock() + validMs + LEEWAY_MS
  const newLink = (validMs: number) => {
    const token = randomBase62(43)
    return { token, hash: hashSecret(token), expiresAt: clock() + validMs }
  }
  const checkInvited = async (token: string): Promise<Guest> => {
    const found = token.length > LONGEST ? undefined : await members.invited(hashSecret(token), clock())
    if (found === undefined || outlasts(found.member.invitationExpiresAt, INVITATION_MS))
      throw noLink('Ask an admin for a new one.')
    const { member, endsFactor } = found
    return { member, needsCode: !endsFactor && (await factor.isEnabled(member.id)) }
  }
  /** Takes the code where one is needed; whether it is there. One that is missing is no guess, and not counted as one. */
  const takeCode = async (memberId: string, code: string | undefined): Promise<boolean> => {
    if (!(await factor.isEnabled(memberId))) return true
    if (code === undefined) return false
    await factor.take(memberId, code)
    return true
  }
  /** The password of who is signed in; its hash beside them. */
  const checkOwn = (member: Member, password: string, peer: string | undefined, more = noMore) =>
    guarded(
      `id:${member.id}`,
      peer,
      async () => member.id,
      async () => {
        const found = await members.credentials(member.name)
        if (!(await verifyPassword(password, found?.passwordHash)) || found === undefined)
          throw wrongPassword('The current password is not right.')
        return { ...found, isWhole: await more(member.id) }
      },
    )
  const noSetup = async (): Promise<GatewayError> =>
    noLink((await members.hasAdmin()) ? 'There is an admin already: sign in.' : 'Start the server again for a new one.')
  const isOffered = async (token: string): Promise<boolean> =>
    token.length <= LONGEST && (await setupLinks.has(hashSecret(token)))

  return {
    setupNeeded: async () => !(await members.hasAdmin()),
    async offerSetup() {
      if (await members.hasAdmin()) return undefined
      const token = randomBase62(43)
      await setupLinks.offer(hashSecret(token))
      return token
    },
    setUp: (token, name, password, peer) =>
      attempt(peer, undefined, async () => {
        if (!(await isOffered(token)) || (await members.hasAdmin())) throw await noSetup()
        const called = cleanName(name)
        await requireUncommon(password, called)
        const passwordHash = await hashPassword(password)
        // Two who come with the same link: the password took a while, and the first has used it up.
        const first = { name: called, limits: DEFAULT_LIMITS, passwordHash }
        const member = (await isOffered(token))
          ? await members.setUp(first, { kind: 'system', id: 'setup' })
          : undefined
        if (member === undefined) throw await noSetup()
        await setupLinks.clear()
        return { member, passwordHash }
      }),
    async signIn(name, password, peer, code) {
      const typed = name.trim().normalize('NFC')
      const idOf = async () => (await members.credentials(typed))?.member.id
      const { isWhole, ...entrant } = await guarded(`name:${typed.toLowerCase()}`, peer, idOf, async () => {
        const found = await members.credentials(typed)
        if (!(await verifyPassword(password, found?.passwordHash)) || found === undefined) throw wrongPassword()
        // While it was checked, the member may have been removed or the password changed.
        const now = await members.credentials(found.member.name)
        if (now === undefined || now.passwordHash !== found.passwordHash) throw wrongPassword()
        return { ...now, isWhole: await takeCode(now.member.id, code) }
      })
      if (!isWhole) throw missingCode()
      return entrant
    },
    async changePassword({ member, hash }, current, next, entry = UNKNOWN) {
      const found = await checkOwn(member, current, entry.peer)
      await requireUncommon(next, member.name)
      const passwordHash = await hashPassword(next)
      const { secret, made } = sessions.make(member.id, entry)
      // While it was made, a link may have set another password, or the session have been ended from elsewhere.
      const change = { before: found.passwordHash, after: passwordHash, session: hash, renewed: made }
      if (!(await members.changePassword(member.id, change))) throw wrongPassword(ENDED_MEANWHILE)
      return { secret, expiresAt: made.expiresAt }
    },
    async prove({ member, hash }, password, peer, code) {
      const { passwordHash, isWhole } = await checkOwn(member, password, peer, (id) => takeCode(id, code))
      if (!isWhole) throw missingCode()
      const by = { memberId: member.id, passwordHash, told: await mayTell(`in:${member.id}`) }
      if (!(await store.sessions.prove(hash, by))) throw wrongPassword(ENDED_MEANWHILE)
    },
    isProven: sessions.isProven,
    factor,
    invited: (token, peer) => attempt(peer, undefined, () => checkInvited(token)),
    async accept(token, password, peer, code) {
      const accepted = await attempt(peer, undefined, async () => {
        const { member: guest, needsCode } = await checkInvited(token)
        await requireUncommon(password, guest.name)
        if (needsCode && !(await takeCode(guest.id, code))) return undefined
        const passwordHash = await hashPassword(password)
        const member = await members.accept(hashSecret(token), passwordHash, clock())
        if (member === undefined) throw noLink('Ask an admin for a new one.')
        return { member, passwordHash }
      })
      if (accepted === undefined) throw missingCode()
      return accepted
    },
    async inviteNew({ name, ...member }, actor) {
      const { token, hash, expiresAt } = newLink(INVITATION_MS)
      const invitation = { hash, expiresAt }
      return { member: await members.add({ ...member, name: cleanName(name), invitation }, actor), token, expiresAt }
    },
    async invite(id, actor, { validMs = INVITATION_MS, endsFactor = false } = {}) {
      const { token, hash, expiresAt } = newLink(validMs)
      return { member: await members.invite(id, { hash, expiresAt, endsFactor }, actor), token, expiresAt }
    },
    async openSession(member, entry = UNKNOWN, { passwordHash, signedIn = false } = {}) {
      const told = signedIn && (await mayTell(`in:${member.id}`))
      const opened = await sessions.open(member, entry, { told, passwordHash })
      if (opened === undefined) throw wrongPassword(ENDED_MEANWHILE)
      return opened
    },
    session: sessions.find,
    sessionsOf: sessions.of,
    allSessions: sessions.all,
    async token(secret) {
      if (!secret.startsWith(TOKEN_PREFIX) || secret.length > LONGEST) return undefined
      const found = await tokens.find(hashSecret(secret))
      const now = clock()
      if (found === undefined || found.revokedAt !== undefined) return undefined
      if (found.expiresAt !== undefined && found.expiresAt <= now) return undefined
      const maker = found.createdBy === undefined ? undefined : await members.get(found.createdBy)
      if (maker?.role !== 'admin') return undefined
      if (Math.abs(now - (found.usedAt ?? 0)) >= USED_MS) void tryTo(tokens.used(found.id, now))
      return found
    },
    async issueToken(typed, expiresAt, by) {
      const label = typed.trim()
      checkLabel(label, 'token')
      const secret = makeSecret(TOKEN_PREFIX)
      const made = { label, hash: hashSecret(secret), createdBy: by.id, expiresAt }
      return { token: await tokens.add(made, { kind: 'member', id: by.id }), secret }
    },
  }
}

const noMore = async (_memberId: string): Promise<boolean> => true

/** A name as it is kept. Throws `invalid_request`. */
export const cleanName = (name: string): string => {
  const clean = name.trim().normalize('NFC')
  if (isPlainName(clean)) return clean
  throw invalidRequest('A name needs at least one character, and no invisible ones.', 'name')
}

const ENDED_MEANWHILE = 'The password was changed or the session ended meanwhile. Sign in again.'

const wrongPassword = (message = 'The name or the password is not right.'): GatewayError =>
  new GatewayError('invalid_api_key', message)

const noLink = (then: string): GatewayError =>
  new GatewayError('not_found', `This link was used, has expired or was never valid. ${then}`)
