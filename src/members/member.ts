// A member: a person of the dashboard, what they may do, and what their own keys may be made of.

import type { BudgetTerms } from '../keys/budget.ts'
import type { Actor } from '../keys/key.ts'
import type { ServerTools } from '../keys/server-tools.ts'

export type Role = 'admin' | 'member'

/** Null is no limit. `models` are catalogue ids with `*` as a wildcard. */
export type MemberLimits = {
  maxKeys: number | null
  maxTokensPerKey: number | null
  maxExpiryDays: number | null
  models: string[]
  /** Of the tools that run at a vendor; absent: all that the gateway allows. Holds for their keys as they are used. */
  serverTools?: ServerTools
}

/** Times are milliseconds since the epoch. `active`: has set a password; a removed member is never seen. */
export type Member = {
  id: string
  name: string
  role: Role
  active: boolean
  limits: MemberLimits
  /** The one team they are in; undefined: none. */
  teamId: string | undefined
  createdAt: number
  /** Of the one-time link that waits to be used, if one does. */
  invitationExpiresAt: number | undefined
}

/** Someone signed in. `provenAt`: when they last proved who they are. */
export type Session = { member: Member; hash: string; provenAt: number }

/** A token of the admin API, for scripts. */
export type AdminToken = {
  id: string
  label: string
  createdBy: string | undefined
  createdAt: number
  expiresAt: number | undefined
  revokedAt: number | undefined
  usedAt: number | undefined
}

/** What a member may make where no admin said otherwise. */
export const DEFAULT_LIMITS: MemberLimits = {
  maxKeys: 5,
  maxTokensPerKey: 1_000_000,
  maxExpiryDays: 365,
  models: ['*'],
}

/** The durable side of members: hashes in, never secrets. Every change writes its audit row in the same transaction. */
export type MemberStore = {
  list(): Promise<Member[]>
  get(id: string): Promise<Member | undefined>
  /** Whether someone can sign in and administer. */
  hasAdmin(): Promise<boolean>
  /** The password's hash beside its member, by name without regard to case; undefined: no such active member. */
  credentials(name: string): Promise<{ member: Member; passwordHash: string } | undefined>
  /** Makes the first admin; undefined where someone can sign in and administer already. Throws like `add`. */
  setUp(input: FirstMember, actor: Actor): Promise<Member | undefined>
  /** With an invitation at once where it is given. Throws `invalid_request` when the name is taken, here and in `update`. */
  add(input: NewMember, actor: Actor): Promise<Member>
  /**
   * Throws `not_found` for an unknown id, and `invalid_request` where no admin would be left. Who is no admin any more
   * loses what they made as one and what still lets people in: admin tokens and links.
   */
  update(id: string, patch: MemberPatch, actor: Actor): Promise<Member>
  invite(id: string, invitation: Invitation, actor: Actor): Promise<Member>
  /** The member a link is for, while it can be used: until it expires, or who made it is no admin any more. */
  invited(hash: string, now: number): Promise<{ member: Member; endsFactor: boolean } | undefined>
  /**
   * Uses up the link and sets the password; undefined when it cannot be used (any more). Ends all sessions and, where
   * there was a password before, the admin tokens and links that were made under it.
   */
  accept(hash: string, passwordHash: string, now: number): Promise<Member | undefined>
  /**
   * Ends all sessions, and opens the one given in their place. False, with nothing changed, where the password is not the one
   * of before any more, or the session has been closed.
   */
  changePassword(id: string, change: PasswordChange): Promise<boolean>
  /**
   * Ends their sessions, admin tokens and links, and revokes their keys unless those are kept: no budget of theirs or of their
   * team counts for those any more. Throws like `update`.
   */
  remove(id: string, keys: 'revoke' | 'keep', actor: Actor): Promise<void>
}

/** `endsFactor`: using it removes the second factor, which who uses it is not asked for. */
export type Invitation = { hash: string; expiresAt: number; endsFactor?: boolean }

type FirstMember = Pick<NewMember, 'name' | 'limits'> & { passwordHash: string }

/** `before`, `after`: hashes. `session`: in which it is changed, by its hash. */
type PasswordChange = { before: string; after: string; session: string; renewed: NewSession }

export type NewMember = {
  name: string
  role: Role
  limits: MemberLimits
  passwordHash?: string
  invitation?: Invitation
  teamId?: string | null
  budget?: BudgetTerms | null
}

/** Absent members stay as they are; null: none. `endsFactor`: the second factor is removed. */
export type MemberPatch = Partial<Pick<NewMember, 'name' | 'role' | 'limits' | 'teamId' | 'budget'>> & {
  endsFactor?: true
}

/** A named group of members. */
export type Team = { id: string; name: string; createdAt: number }

/** Every change writes its audit row in the same transaction. */
export type TeamStore = {
  /** By name. */
  list(): Promise<Team[]>
  get(id: string): Promise<Team | undefined>
  /** Throws `invalid_request` when the name is taken, here and in `update`. */
  add(input: { name: string; budget?: BudgetTerms | null }, actor: Actor): Promise<Team>
  /** Throws `not_found` for an unknown id, here and in `remove`. */
  update(id: string, patch: { name?: string; budget?: BudgetTerms | null }, actor: Actor): Promise<Team>
  /** Its members are in none then, and its budget ends. */
  remove(id: string, actor: Actor): Promise<void>
}

/** Who may come in, by the password with this hash. */
export type Entrant = { member: Member; passwordHash: string }

/** Who came in, from where (an address or a network) and by which browser; undefined where that is not known. */
export type Entry = { peer: string | undefined; agent: string | undefined }

export type NewSession = {
  hash: string
  memberId: string
  now: number
  expiresAt: number
  address: string | undefined
  agent: string | undefined
}

/** A session as it is kept. Whether it still lasts is the reader's to judge. */
export type StoredSession = {
  hash: string
  createdAt: number
  expiresAt: number
  seenAt: number
  provenAt: number
  address: string | undefined
  agent: string | undefined
}

/** What a session is called where its owner sees it: nothing can be done with so little of a hash. */
export const sessionId = (hash: string): string => `ses_${hash.slice(0, 16)}`

export type SessionStore = {
  /**
   * `told`: the audit takes an entry of it; elsewhere another entry tells it. False, with nothing changed, where a password
   * with the hash that is given let them in, and that is not theirs any more.
   */
  open(session: NewSession, told: boolean, passwordHash?: string): Promise<boolean>
  /** Writes into the audit that someone was turned away; `memberId` undefined: the name is nobody's, and is not kept. */
  refuse(
    memberId: string | undefined,
    refusal: { peer: string | undefined; unrecorded: number; by: 'password' | 'code' },
  ): Promise<void>
  /** The session, and its member as they are now. */
  find(hash: string): Promise<{ member: Member; stored: StoredSession } | undefined>
  /** A member's, the one used last first. */
  of(memberId: string): Promise<StoredSession[]>
  /** Everybody's, with their members as they are now: those in the order of the list of members, each one's as in `of`. */
  all(): Promise<{ member: Member; stored: StoredSession }[]>
  seen(hash: string, now: number): Promise<void>
  /**
   * Its owner has proven who they are, by a password with this hash. `told`: in the audit. False, with nothing changed, where
   * that is not their password any more, or the session has been closed.
   */
  prove(hash: string, by: { memberId: string; passwordHash: string; told: boolean }): Promise<boolean>
  close(hash: string): Promise<void>
  /** One of theirs, by its id; in the audit, as their own doing where nobody else is named. Throws `not_found`. */
  end(memberId: string, id: string, by?: Actor): Promise<void>
  /** Their own doing; in the audit. */
  closeAll(memberId: string): Promise<void>
  /** Removes those that ended before. */
  sweep(now: number, idleSince: number): Promise<void>
}

/** Second factors; every change but the taking of a step is in the audit. */
export type FactorStore = {
  /** `confirmed` false: only offered. `codes`: recovery codes left. */
  get(memberId: string): Promise<{ secret: string; confirmed: boolean; codes: number } | undefined>
  /** Members who have one. */
  enabled(): Promise<Set<string>>
  /** In place of what was offered before. Throws `invalid_request` where one is confirmed. */
  offer(memberId: string, secret: string): Promise<void>
  /** `codes`: hashes of the recovery codes; `keep`: the session that stays, by its hash. */
  confirm(memberId: string, by: { step: number; codes: readonly string[]; keep: string }): Promise<void>
  /** Whether no code of this step or a later one was taken yet; one later than `latest` counts for nothing. */
  takeStep(memberId: string, step: number, latest: number): Promise<boolean>
  /** Whether there is such a recovery code; there is none then. */
  takeCode(memberId: string, hash: string): Promise<boolean>
  renewCodes(memberId: string, codes: readonly string[]): Promise<void>
  remove(memberId: string, actor: Actor): Promise<void>
}

export type TokenStore = {
  list(): Promise<AdminToken[]>
  get(id: string): Promise<AdminToken | undefined>
  add(
    token: { label: string; hash: string; createdBy: string; expiresAt: number | undefined },
    actor: Actor,
  ): Promise<AdminToken>
  find(hash: string): Promise<AdminToken | undefined>
  used(id: string, now: number): Promise<void>
  revoke(id: string, actor: Actor): Promise<AdminToken>
}

/** Named values, JSON; written with an audit row. `null` removes one. */
export type SettingStore = {
  read(): Promise<Record<string, unknown>>
  write(patch: Readonly<Record<string, unknown>>, actor: Actor): Promise<void>
}
