// GET /metrics for Prometheus: only if enabled, for requests with its token or, without one, from this machine.

import { createHash, timingSafeEqual } from 'node:crypto'
import { Elysia } from 'elysia'
import { GatewayError } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import { fallback } from './fallback.ts'
import { errorResponse, requestId } from './respond.ts'

/** Headers of proxies: behind one on this machine, the client may be elsewhere. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

export const metrics = (gateway: Gateway) =>
  new Elysia({ name: 'metrics' }).get('/metrics', async ({ request }) => {
    if (gateway.metrics === undefined || !gateway.config.metrics.enabled) return fallback(request)
    const refused = refusal(gateway, request)
    if (refused !== undefined) return errorResponse(refused, requestId(), undefined)
    return new Response(await gateway.metrics.text(), {
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
    })
  })

const refusal = (gateway: Gateway, request: Request): GatewayError | undefined => {
  const { token } = gateway.config.metrics
  if (token === undefined) {
    return isLocal(gateway, request)
      ? undefined
      : new GatewayError('permission_denied', 'Metrics are for this machine only. Set metrics.token to read them here.')
  }
  const [, shown] = /^bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '') ?? []
  if (shown === undefined) return new GatewayError('missing_api_key', 'Show the metrics token as a bearer token.')
  return timingSafeEqual(hash(shown), hash(token))
    ? undefined
    : new GatewayError('invalid_api_key', 'This is not the metrics token.')
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()

const isLocal = (gateway: Gateway, request: Request): boolean => {
  if (FORWARDED.some((name) => request.headers.has(name)) || !isOwnName(request.headers.get('host'))) return false
  const address = gateway.listener?.addressOf(request) ?? ''
  return address === '::1' || /^(::ffff:)?127\./.test(address)
}

/** A web page may have its own name lead to this machine, and read what answers there. Such a name has a dot, and is no address. */
const isOwnName = (host: string | null): boolean => {
  const url = `http://${host ?? 'localhost'}`
  if (!URL.canParse(url)) return false
  const { hostname } = new URL(url)
  return !hostname.includes('.') || hostname.endsWith('.localhost') || /^[\d.]+$/.test(hostname)
}
