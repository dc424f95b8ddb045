// Signing in and out. Every sign-in opens a session of its own: what the browser brought along is closed.

import type * as S from '../../admin-api/schema.ts'
import { hashSecret } from '../../keys/secret.ts'
import { iso } from '../../lib/iso-time.ts'
import type { Entry, Member } from '../../members/member.ts'
import { SESSION_MS } from '../../members/membership.ts'
import { patiently } from '../../store/patience.ts'
import { VERSION } from '../../version.ts'
import { type Call, type Caller, type Part, sessionOf } from './call.ts'
import { cookiesOf, endedCookies, sessionCookie } from './caller.ts'
import { limitsView } from './view.ts'

export const session: Part<
  | 'session.get'
  | 'session.sign-in'
  | 'session.sign-out'
  | 'session.sign-out-everywhere'
  | 'session.password'
  | 'setup'
  | 'invitation.open'
  | 'invitation.accept'
> = {
  'session.get': (call) => sessionView(call, call.caller),
  'session.sign-in': async (call, { name, password }) =>
    enter(call, await call.gateway.membership.signIn(name, password, call.peer), { peer: call.peer }),
  'session.sign-out': (call) => {
    closeBrought(call)
    return leave(call)
  },
  'session.sign-out-everywhere': (call) => {
    call.gateway.store.sessions.closeAll(sessionOf(call.caller).member.id)
    return leave(call)
  },
  'session.password': async (call, { current, password }) => {
    await call.gateway.membership.changePassword(sessionOf(call.caller), current, password, call.peer)
    return { done: true }
  },
  setup: async (call, { token, name, password }) =>
    enter(call, await call.gateway.membership.setUp(token, name, password, call.peer)),
  'invitation.open': async (call, { token }) => {
    const member = await call.gateway.membership.invited(token, call.peer)
    return { name: member.name, role: member.role, expires_at: iso(member.invitationExpiresAt ?? 0) }
  },
  'invitation.accept': async (call, { token, password }) =>
    enter(call, await call.gateway.membership.accept(token, password, call.peer)),
}

/** `entry`: by a password; the audit tells the other ways in by themselves. */
const enter = async (call: Call, member: Member, entry?: Entry): Promise<S.Session> => {
  // Checking the password took a while: the call is not repeated from its beginning.
  const { secret } = await patiently(() => {
    closeBrought(call)
    return call.gateway.membership.openSession(member, entry)
  })
  call.headers.append('set-cookie', sessionCookie(secret, SESSION_MS / 1000, call.secure))
  const opened = { member, hash: hashSecret(secret), createdAt: call.gateway.clock() }
  return sessionView(call, { kind: 'session', session: opened, secret })
}

/** All of them: one that stayed would open again once the others are gone. */
const closeBrought = ({ gateway, request }: Call): void => {
  for (const secret of cookiesOf(request)) gateway.store.sessions.close(hashSecret(secret))
}

const leave = (call: Call): { done: true } => {
  for (const cookie of endedCookies(call.secure)) call.headers.append('set-cookie', cookie)
  return { done: true }
}

/** Without a session: whether the gateway is still to be set up, and nothing else. */
const sessionView = ({ gateway }: Call, caller: Caller): S.Session => {
  const known = caller.kind !== 'anyone'
  const member = caller.kind === 'session' ? caller.session.member : undefined
  return {
    signed_in: known,
    setup_needed: gateway.membership.setupNeeded(),
    token: caller.kind === 'token',
    member:
      member === undefined
        ? null
        : { id: member.id, name: member.name, role: member.role, limits: limitsView(member.limits) },
    key_defaults: known ? gateway.settings.values().key_defaults : null,
    khr_per_usd: known ? gateway.config.khrPerUsd : null,
    version: known ? VERSION : null,
  }
}
