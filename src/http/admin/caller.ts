// Who calls, from headers: an admin token, a session's cookie, or anyone. And whether a change comes from our own page.

import { GatewayError } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import type { Caller } from './call.ts'

const COOKIE = 'sluice_session'
/** Over https: a name that browsers take from this very host only, so that no neighbour can plant one. */
const HOST_COOKIE = `__Host-${COOKIE}`

/**
 * A token that is not valid is refused, whatever the cookie says; a cookie that opens nothing is anyone's. Other kinds of
 * `Authorization` are for a proxy in front, which browsers send on to us.
 */
export const identify = async (gateway: Gateway, request: Request): Promise<Caller> => {
  const authorization = request.headers.get('authorization')
  if (authorization !== null && /^bearer\b/i.test(authorization)) {
    const secret = /^bearer[ \t]+(\S+)$/i.exec(authorization)?.[1]
    const token = secret === undefined ? undefined : await gateway.membership.token(secret)
    if (secret === undefined || token === undefined) {
      throw new GatewayError(
        'invalid_api_key',
        'The admin token is not valid (any more). Make a new one in the dashboard.',
      )
    }
    return { kind: 'token', token, secret }
  }
  const [secret] = cookiesOf(request)
  const session = secret === undefined ? undefined : await gateway.membership.session(secret)
  return secret === undefined || session === undefined ? { kind: 'anyone' } : { kind: 'session', session, secret }
}

/** Secrets of the sessions a browser brings, the one that counts first. */
export const cookiesOf = (request: Request): string[] => {
  const pairs = (request.headers.get('cookie') ?? '').split(';').map((pair) => pair.trim().split('=', 2))
  return [HOST_COOKIE, COOKIE].flatMap((wanted) =>
    pairs.flatMap(([name, value]) => (name === wanted && value !== undefined && value !== '' ? [value] : [])),
  )
}

export const sessionCookie = (secret: string, maxAgeS: number, secure: boolean): string =>
  secure
    ? `${HOST_COOKIE}=${secret}; ${ATTRIBUTES}; Max-Age=${maxAgeS}; Secure`
    : `${COOKIE}=${secret}; ${ATTRIBUTES}; Max-Age=${maxAgeS}`

const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict'

/** What removes the session from the browser, one header each. */
export const endedCookies = (secure: boolean): string[] =>
  (secure ? [true, false] : [false]).map((https) => sessionCookie('', 0, https))

/** What the request's host and scheme are to the browser; a proxy's word only where it is trusted. */
const ownOrigin = (request: Request, trustProxy: boolean): { host: string; secure: boolean } => {
  const url = new URL(request.url)
  const named = request.headers.get('host') ?? url.host
  if (!trustProxy) return { host: named, secure: url.protocol === 'https:' }
  const host = firstOf(request.headers.get('x-forwarded-host')) ?? named
  const scheme = firstOf(request.headers.get('x-forwarded-proto')) ?? url.protocol.slice(0, -1)
  return { host, secure: scheme === 'https' }
}

/** Whether the client's connection is known to be https: by a trusted proxy's word. */
export const cameByHttps = (request: Request, trustProxy: boolean): boolean =>
  trustProxy && firstOf(request.headers.get('x-forwarded-proto')) === 'https'

const firstOf = (list: string | null): string | undefined => list?.split(',')[0]?.trim() || undefined

/**
 * Throws `permission_denied` unless the browser says that our own page sent this: every header it uses to say so must
 * agree, and there must be one.
 */
export const requireOwnOrigin = (request: Request, trustProxy: boolean): void => {
  const origin = request.headers.get('origin')
  const site = request.headers.get('sec-fetch-site')
  const { host } = ownOrigin(request, trustProxy)
  const own = origin !== null && hostOf(origin) === withoutDefaultPort(host, origin)
  if ((origin === null && site === null) || (origin !== null && !own) || (site !== null && site !== 'same-origin')) {
    throw new GatewayError(
      'permission_denied',
      'Changes are taken from the dashboard itself only. A proxy in front of it must pass the Host header on.',
    )
  }
}

const hostOf = (origin: string): string | undefined => {
  try {
    const url = new URL(origin)
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.host : undefined
  } catch {
    return undefined
  }
}

// Behind a proxy that ends TLS the host may carry a port that is the default of the page's scheme.
const withoutDefaultPort = (host: string, origin: string): string =>
  host.toLowerCase().replace(origin.startsWith('https:') ? /:443$/ : /:80$/, '')

/**
 * Whether a cookie may be kept to https: the page that asks says so itself (`Origin` is the browser's word), or a
 * trusted proxy does.
 */
export const isSecure = (request: Request, trustProxy: boolean): boolean =>
  request.headers.get('origin')?.startsWith('https:') === true || ownOrigin(request, trustProxy).secure
