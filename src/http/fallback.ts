// Answers to requests that no endpoint takes: unknown paths, wrong methods, upgrades, and errors of the framework.

import { GatewayError } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import { insteadOf, type Side, servedAt, wireAt } from './endpoints.ts'
import { errorResponse, reported, requestId } from './respond.ts'

export const fallback = (request: Request, side: Side = 'operators'): Response => {
  const id = requestId()
  const { pathname } = new URL(request.url)
  const served = servedAt(pathname, side)
  const wire = wireAt(pathname)
  // A path that should have been served with this method is another one: it has a slash too many, for instance.
  if (served === undefined || served.methods.includes(request.method)) {
    const page = pathname === '/' && side === 'operators' ? 'The dashboard is at /dashboard, and ' : ''
    const where = insteadOf(pathname) ?? `${page}GET /v1 lists the endpoints.`
    return errorResponse(
      new GatewayError('not_found', `There is no ${pathname.slice(0, 200)} here. ${where}`),
      id,
      wire,
    )
  }
  const isUpgrade = wantsWebSocket(request)
  const how = listed(served.methods)
  const say = isUpgrade
    ? `No WebSocket is spoken at ${served.path}: ask by ${how}.`
    : `${served.path} takes ${how} only.`
  const error = new GatewayError('method_not_allowed', say)
  const response = errorResponse(error, id, wire, { allow: served.methods.join(', ') })
  if (!isUpgrade) return response
  // Agents that try a WebSocket first fall back to POST at once on this status, and wait long on any other.
  return new Response(response.body, {
    status: 426,
    headers: { ...Object.fromEntries(response.headers), upgrade: 'HTTP/1.1' },
  })
}

export const wantsWebSocket = ({ headers }: Request): boolean => headers.get('upgrade')?.toLowerCase() === 'websocket'

const listed = (methods: string[]): string => methods.filter((method) => method !== 'HEAD').join(' and ')

export const frameworkError = (
  gateway: Gateway,
  request: Request,
  side: Side,
  { code, error }: { code: unknown; error: unknown },
): Response => {
  if (code === 'NOT_FOUND') return fallback(request, side)
  const id = requestId()
  return errorResponse(reported(gateway.log, error, { request: id }), id, wireAt(new URL(request.url).pathname))
}
