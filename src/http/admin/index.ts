// The admin API: every route of the table, each with the same checks: who calls, from where, with what input, and whether they may.

import { Elysia } from 'elysia'
import { ADMIN_BASE, ROUTES, type Route, type RouteName } from '../../admin-api/routes.ts'
import { GatewayError, unavailable } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import { clientAddress, isTrusted } from '../address.ts'
import { errorResponse, reported, requestId } from '../respond.ts'
import { accountChanges } from './account-changes.ts'
import { accounts } from './accounts.ts'
import { alerts } from './alerts.ts'
import { audit } from './audit.ts'
import { type Call, type Caller, type Handlers, requireAccess, requireFactor, requireProof } from './call.ts'
import { identify, isSecure, requireOwnOrigin } from './caller.ts'
import { clients } from './clients.ts'
import { entries } from './entries.ts'
import { exchanges } from './exchanges.ts'
import { createReader } from './input.ts'
import { keyChanges } from './key-changes.ts'
import { keys } from './keys.ts'
import { createLine, type Line } from './line.ts'
import { live } from './live.ts'
import { members } from './members.ts'
import { models } from './models.ts'
import { playground } from './playground.ts'
import { secondFactor } from './second-factor.ts'
import { session } from './session.ts'
import { settings } from './settings.ts'
import { state } from './state.ts'
import { teams } from './teams.ts'
import { tokens } from './tokens.ts'
import { usage } from './usage.ts'

const HANDLERS: Handlers = {
  ...session,
  ...secondFactor,
  ...members,
  ...teams,
  ...keys,
  ...keyChanges,
  ...usage,
  ...exchanges,
  ...models,
  ...accounts,
  ...accountChanges,
  ...entries,
  ...alerts,
  ...clients,
  ...playground,
  ...audit,
  ...settings,
  ...tokens,
  ...live,
  ...state,
}

/** Nothing of the API is a page, is kept, or is shown in another's frame. */
const SAFE = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

export const admin = (gateway: Gateway) => {
  const app = new Elysia({ name: 'admin' })
  const line = createLine()
  for (const name of Object.keys(ROUTES) as RouteName[]) mount(app, gateway, name, line)
  return app.all(`${ADMIN_BASE}/*`, ({ request }) => safely(gateway, request, (id) => refuse(request, id)), {
    parse: 'none',
  })
}

const mount = <N extends RouteName>(app: Elysia, gateway: Gateway, name: N, line: Line): void => {
  const { method, path, access, proof = false, early = false }: Route = ROUTES[name]
  const read = createReader(name, { line, hurried: () => gateway.descriptors.short() })
  const handle = HANDLERS[name]
  const answer = async (request: Request, params: Record<string, string>): Promise<Response> => {
    const trustProxy = isTrusted(gateway, request)
    const enter = async (): Promise<Caller> => {
      const caller = await identify(gateway, request)
      // A token is no cookie: no page can have a browser send it unknowingly.
      if (method !== 'GET' && caller.kind !== 'token') requireOwnOrigin(request, trustProxy)
      requireAccess(access, caller)
      if (!early && access !== 'anyone') await requireFactor(gateway, caller)
      if (proof) requireProof(gateway, caller)
      return caller
    }
    const caller = await enter()
    if (name !== 'state') shed(gateway)
    const input = await read(request, params)
    const call: Call = {
      gateway,
      request,
      // Reading a body may take long: the session may have ended meanwhile, or the role been taken.
      caller: method === 'GET' ? caller : await enter(),
      peer: clientAddress(gateway, request),
      secure: isSecure(request, trustProxy),
      headers: new Headers(),
    }
    // What other nodes have used and changed is shown, and decided on, as it is now.
    await gateway.together?.catchUp()
    const result = await handle(call, input)
    return result instanceof Response ? result : Response.json(result, { headers: call.headers })
  }
  app.route(
    method,
    ADMIN_BASE + path,
    ({ request, params }) => safely(gateway, request, () => answer(request, params)),
    {
      parse: 'none',
    },
  )
}

/**
 * Throws `service_unavailable` while descriptors are short, unless nothing else is under way. What is open is told all the
 * same: it is what an operator asks for then.
 */
const shed = ({ descriptors, open, arriving, listener }: Gateway): void => {
  const isAlone = open.size + arriving.count === 0 && (listener?.pending() ?? 0) <= 1
  if (!isAlone && descriptors.short()) throw unavailable('is busy', { cause: 'descriptors' })
}

const safely = async (
  gateway: Gateway,
  request: Request,
  answer: (id: string) => Response | Promise<Response>,
): Promise<Response> => {
  const id = requestId()
  let response: Response
  try {
    response = await answer(id)
  } catch (thrown) {
    const error = reported(gateway.log, thrown, { request: id, path: new URL(request.url).pathname })
    response = errorResponse(error, id, undefined)
  }
  for (const [name, value] of Object.entries(SAFE)) response.headers.set(name, value)
  response.headers.set('x-request-id', id)
  return response
}

/** What no route of the table answered. */
const refuse = (request: Request, id: string): Response => {
  const path = new URL(request.url).pathname.slice(ADMIN_BASE.length)
  const there = Object.values(ROUTES).filter((route) => matches(route.path, path))
  if (there.length === 0) throw new GatewayError('not_found', 'There is no such route of the admin API.')
  const allow = there.map((route) => route.method).join(', ')
  const error = new GatewayError('method_not_allowed', `${there[0]?.path} takes ${allow} only.`)
  return errorResponse(error, id, undefined, { allow })
}

const matches = (pattern: string, path: string): boolean => {
  const wanted = pattern.split('/')
  const given = path.split('/')
  return wanted.length === given.length && wanted.every((word, i) => word.startsWith(':') || word === given[i])
}
