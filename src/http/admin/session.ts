// Signing in and out. Every sign-in opens a session of its own: what the browser brought along is closed.

import type * as S from '../../admin-api/schema.ts'
import type { Gateway } from '../../gateway.ts'
import { isBudgeted } from '../../keys/budgets.ts'
import { hashSecret } from '../../keys/secret.ts'
import { iso } from '../../lib/iso-time.ts'
import { type Entrant, type Entry, type Member, type StoredSession, sessionId } from '../../members/member.ts'
import type { Opened } from '../../members/membership.ts'
import { VERSION } from '../../version.ts'
import { type Call, type Caller, isFactorDue, type Part, sessionOf } from './call.ts'
import { cookiesOf, endedCookies, sessionCookie } from './caller.ts'
import { revokePlayground } from './playground.ts'
import { limitsView, memberStatus } from './view.ts'

export const session: Part<
  | 'session.get'
  | 'session.sign-in'
  | 'session.sign-out'
  | 'session.sign-out-everywhere'
  | 'sessions.list'
  | 'sessions.end'
  | 'session.password'
  | 'session.prove'
  | 'setup'
  | 'invitation.open'
  | 'invitation.accept'
> = {
  'session.get': (call) => sessionView(call, call.caller),
  'session.sign-in': async (call, { name, password, code }) =>
    enter(call, await call.gateway.membership.signIn(name, password, call.peer, code), true),
  'session.sign-out': async (call) => {
    await revokePlayground(call.gateway, call.caller)
    await closeBrought(call)
    return leave(call)
  },
  'session.sign-out-everywhere': async (call) => {
    await revokePlayground(call.gateway, call.caller)
    await call.gateway.store.sessions.closeAll(sessionOf(call.caller).member.id)
    return leave(call)
  },
  'sessions.list': async ({ gateway, caller }) => {
    const { member, hash } = sessionOf(caller)
    return { items: (await gateway.membership.sessionsOf(member.id)).map((one) => ownView(one, hash)) }
  },
  'sessions.end': async (call, { id }) => {
    const { member, hash } = sessionOf(call.caller)
    await call.gateway.store.sessions.end(member.id, id)
    // Which session it was made in is not kept: the page of another makes a new one.
    await revokePlayground(call.gateway, call.caller)
    return id === sessionId(hash) ? leave(call) : { done: true }
  },
  'session.password': async (call, { current, password }) => {
    const session = sessionOf(call.caller)
    giveCookie(call, await call.gateway.membership.changePassword(session, current, password, entryOf(call)))
    return { done: true }
  },
  'session.prove': async (call, { password, code }) => {
    await call.gateway.membership.prove(sessionOf(call.caller), password, call.peer, code)
    return { done: true }
  },
  setup: async (call, { token, name, password }) =>
    enter(call, await call.gateway.membership.setUp(token, name, password, call.peer)),
  'invitation.open': async (call, { token }) => {
    const { member, needsCode } = await call.gateway.membership.invited(token, call.peer)
    const { name, role, invitationExpiresAt } = member
    return {
      ...{ name, role, status: memberStatus(member) },
      ...{ expires_at: iso(invitationExpiresAt ?? 0), needs_code: needsCode },
    }
  },
  'invitation.accept': async (call, { token, password, code }) =>
    enter(call, await call.gateway.membership.accept(token, password, call.peer, code)),
}

const entryOf = ({ peer, request }: Call): Entry => ({ peer, agent: request.headers.get('user-agent') ?? undefined })

const giveCookie = ({ gateway, headers, secure }: Call, { secret, expiresAt }: Opened): void =>
  headers.append('set-cookie', sessionCookie(secret, Math.ceil((expiresAt - gateway.clock()) / 1000), secure))

const enter = async (call: Call, { member, passwordHash }: Entrant, signedIn = false): Promise<S.Session> => {
  await closeBrought(call)
  const opened = await call.gateway.membership.openSession(member, entryOf(call), { passwordHash, signedIn })
  giveCookie(call, opened)
  const { secret } = opened
  const session = { member, hash: hashSecret(secret), provenAt: call.gateway.clock() }
  return sessionView(call, { kind: 'session', session, secret })
}

/** All of them: one that stayed would open again once the others are gone. */
const closeBrought = async ({ gateway, request }: Call): Promise<void> => {
  for (const secret of cookiesOf(request)) await gateway.store.sessions.close(hashSecret(secret))
}

const leave = (call: Call): { done: true } => {
  for (const cookie of endedCookies(call.secure)) call.headers.append('set-cookie', cookie)
  return { done: true }
}

const ownView = (of: StoredSession, current: string): S.OwnSession => ({
  id: sessionId(of.hash),
  current: of.hash === current,
  address: of.address ?? null,
  agent: of.agent ?? null,
  created_at: iso(of.createdAt),
  seen_at: iso(of.seenAt),
  expires_at: iso(of.expiresAt),
})

/** Without a session: whether the gateway is still to be set up, and nothing else. */
const sessionView = async ({ gateway }: Call, caller: Caller): Promise<S.Session> => {
  const known = caller.kind !== 'anyone'
  const member = caller.kind === 'session' ? caller.session.member : undefined
  return {
    signed_in: known,
    setup_needed: await gateway.membership.setupNeeded(),
    token: caller.kind === 'token',
    member: member === undefined ? null : await whoView(gateway, member),
    second_factor_due: member !== undefined && (await isFactorDue(gateway, member)),
    key_defaults: known ? gateway.settings.values().key_defaults : null,
    khr_per_usd: known ? gateway.config.khrPerUsd : null,
    time_zone: known ? gateway.config.timeZone : null,
    traces: known ? gateway.config.otlp?.traces === true : null,
    version: known ? VERSION : null,
  }
}

const whoView = async (
  gateway: Gateway,
  { id, name, role, limits }: Member,
): Promise<NonNullable<S.Session['member']>> => {
  const { factor } = gateway.membership
  return {
    ...{ id, name, role, limits: limitsView(limits) },
    may_renew: limits.maxTokensPerKey === null || isBudgeted(gateway.store.budgets, id),
    second_factor: await factor.isEnabled(id),
    recovery_codes: await factor.codesLeft(id),
  }
}
