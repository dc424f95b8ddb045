// One call of the admin API: who makes it, and what a handler is given.

import type { Input, Output } from '../../admin-api/contract.ts'
import type { Access, RouteName } from '../../admin-api/routes.ts'
import { GatewayError, invalidRequest } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import { isOnceName } from '../../keys/check.ts'
import type { Actor, Key } from '../../keys/key.ts'
import type { AdminToken, Member, Session } from '../../members/member.ts'

export type Caller =
  | { kind: 'anyone' }
  | { kind: 'session'; session: Session; secret: string }
  | { kind: 'token'; token: AdminToken; secret: string }

export type Call = {
  gateway: Gateway
  request: Request
  caller: Caller
  /** The address attempts are counted by. */
  peer: string | undefined
  /** The page the caller is on came by https. */
  secure: boolean
  /** Goes out with the answer. */
  headers: Headers
}

type Handler<N extends RouteName> = (
  call: Call,
  input: Input<N>,
) => Output<N> | Response | Promise<Output<N> | Response>
export type Handlers = { [N in RouteName]: Handler<N> }
/** The handlers of some routes: what one file gives. */
export type Part<N extends RouteName> = Pick<Handlers, N>

/** Throws `missing_api_key` (401) when nobody is signed in, `permission_denied` (403) when they may not. */
export const requireAccess = (access: Access, caller: Caller): void => {
  if (access === 'anyone') return
  if (caller.kind === 'anyone') {
    throw new GatewayError('missing_api_key', 'Sign in to the dashboard, or send an admin token as a bearer token.')
  }
  if ((access === 'session' || access === 'admin-session') && caller.kind === 'token') {
    throw new GatewayError('permission_denied', 'An admin token cannot do this: sign in to the dashboard.')
  }
  if ((access === 'admin' || access === 'admin-session') && !isAdmin(caller)) {
    throw new GatewayError('permission_denied', 'Only an admin may do this.')
  }
}

/**
 * What lets others in, or secrets out, is asked for by who has just proven who they are: a session may have been left open,
 * or stolen. A token is shown with every call.
 * Throws `permission_denied` that names `password`, which `session.prove` takes.
 */
export const requireProof = ({ membership }: Gateway, caller: Caller): void => {
  if (caller.kind === 'token' || membership.isProven(sessionOf(caller))) return
  throw new GatewayError('permission_denied', 'Enter your password again to do this.', { param: 'password' })
}

/** Whether someone must set up a second factor before anything else. */
export const isFactorDue = async ({ settings, membership }: Gateway, { id, role }: Member): Promise<boolean> =>
  role === 'admin' && settings.values().second_factor_for_admins && !(await membership.factor.isEnabled(id))

/** Throws `permission_denied` that names `second_factor` for an admin who lacks the one that is demanded. */
export const requireFactor = async (gateway: Gateway, caller: Caller): Promise<void> => {
  if (caller.kind !== 'session' || !(await isFactorDue(gateway, caller.session.member))) return
  const message = 'Set up a second factor first: this gateway asks for one of every admin.'
  throw new GatewayError('permission_denied', message, { param: 'second_factor' })
}

export const isAdmin = (caller: Caller): boolean =>
  caller.kind === 'token' || (caller.kind === 'session' && caller.session.member.role === 'admin')

/** The member who is limited to what is theirs; undefined for admins and tokens, who see everything. */
export const limitedMember = (caller: Caller): Member | undefined =>
  caller.kind === 'session' && caller.session.member.role !== 'admin' ? caller.session.member : undefined

export const actorOf = (caller: Caller): Actor => {
  if (caller.kind === 'session') return { kind: 'member', id: caller.session.member.id }
  if (caller.kind === 'token') return { kind: 'token', id: caller.token.id }
  return { kind: 'system', id: 'anyone' }
}

/** The name by which a call is known again that is repeated; undefined where it has none. Throws `invalid_request`. */
export const onceOf = ({ request }: Call): string | undefined => {
  const name = request.headers.get('idempotency-key')
  if (name === null || isOnceName(name)) return name ?? undefined
  throw invalidRequest('Idempotency-Key: expected 1 to 255 characters of ASCII.', 'Idempotency-Key')
}

/** The session of a route that only sessions reach. */
export const sessionOf = (caller: Caller): Session => {
  if (caller.kind === 'session') return caller.session
  throw new GatewayError('permission_denied', 'Sign in to the dashboard to do this.')
}

/** The keys a caller may see. */
export const keysOf = (call: Call): Key[] => {
  const member = limitedMember(call.caller)
  const all = call.gateway.store.keys.list()
  return member === undefined ? all : all.filter((key) => key.ownerId === member.id)
}

/** A key the caller may see. Throws `not_found` for any other, whether there is one or not. */
export const keyOf = (call: Call, id: string): Key => {
  const member = limitedMember(call.caller)
  const key = call.gateway.store.keys.get(id)
  if (key === undefined || (member !== undefined && key.ownerId !== member.id)) {
    throw new GatewayError('not_found', 'There is no such key.')
  }
  return key
}

/** Ids of the keys a caller's figures are limited to, or of the one asked for; undefined: all. */
export const keyIdsOf = (call: Call, asked: string | undefined): string[] | undefined => {
  if (asked !== undefined) return [keyOf(call, asked).id]
  return limitedMember(call.caller) === undefined ? undefined : keysOf(call).map((key) => key.id)
}
