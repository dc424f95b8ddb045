// The call to a provider: headers by allow-list, its own timers, and every way the network fails as an error of ours.

import { GatewayError, type ProviderFailure } from '../errors.ts'
import type { Wire } from '../ir/wire.ts'
import { canOpen } from '../lib/descriptors.ts'
import { endpoint } from '../provider/endpoint.ts'
import type { Relay } from './exchange.ts'
import type { Target } from './route.ts'

export const timedOut = (what: string): GatewayError =>
  new GatewayError('gateway_timeout', `The provider ${what} in time. Try again.`)

export const broken = (cause?: unknown): GatewayError =>
  new GatewayError('upstream_error', 'The connection to the provider broke off. Try again.', { cause, ...told(cause) })

/** The system's own name for what went wrong: all that operators have to tell a wrong name from a wrong certificate. */
const told = (cause: unknown): { provider?: ProviderFailure } => {
  const code = codeOf(cause)
  return code === '' ? {} : { provider: { code } }
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** `method`: POST by default. */
export type Outgoing = {
  method?: 'GET' | 'POST' | 'DELETE'
  url: string
  body?: string | Uint8Array<ArrayBuffer>
}

/**
 * Sends a request and resolves with the provider's headers. `abort` ends the call whenever it fires, with an error of ours
 * as its reason, or without one when the client has left. Throws GatewayError for whatever the network does.
 */
export const send = async (
  relay: Relay,
  target: Target,
  { method = 'POST', url, body }: Outgoing,
  client: Headers,
  abort: AbortController,
): Promise<Response> => {
  const request = {
    method,
    headers: requestHeaders(target, target.wire, client),
    ...(body === undefined ? {} : { body }),
    signal: abort.signal,
    // Credentials must not follow a redirect to wherever it points.
    redirect: 'manual',
    // Bun's own limit would cut a model that thinks for long.
    timeout: false,
  } as RequestInit
  const sentAt = performance.now()
  try {
    return await relay.fetch(url, request)
  } catch (error) {
    if (!isStale(error, performance.now() - sentAt) || abort.signal.aborted) throw networkError(error, abort)
  }
  try {
    // Others that are kept may have died with it.
    return await relay.fetch(url, { ...request, keepalive: false })
  } catch (error) {
    throw networkError(error, abort)
  }
}

/** A kept connection that the provider had given up breaks at once when it is used again. */
const STALE_MS = 500

// Nothing was read then, as a rule: the same request goes out once more, over a connection of its own.
const isStale = (error: unknown, afterMs: number): boolean =>
  afterMs < STALE_MS && error instanceof Error && 'code' in error && STALE_CODES.has(error.code)

const STALE_CODES = new Set<unknown>(['ECONNRESET', 'ConnectionClosed', 'EPIPE'])

/** What an exception of fetch or of reading a body means. */
export const networkError = (error: unknown, abort: AbortController): GatewayError => {
  if (error instanceof GatewayError) return error
  if (abort.signal.reason instanceof GatewayError) return abort.signal.reason
  const code = codeOf(error)
  if (code === 'ETIMEDOUT' || code === 'ConnectionTimeout') return timedOut('could not be reached')
  // By the name of a provider with several addresses, the lack of a descriptor is told as a refusal.
  if (UNOPENED.has(code) || (UNREACHED.has(code) && !canOpen(1))) return crowded(error)
  if (UNREACHED.has(code)) {
    const message = 'The provider could not be reached. Try again.'
    return new GatewayError('upstream_error', message, { cause: error, ...told(error) })
  }
  return broken(error)
}

const UNOPENED = new Set(['EMFILE', 'ENFILE'])

/** The gateway's own want, which another target would share and none is to blame for. */
const crowded = (cause: unknown): GatewayError =>
  new GatewayError('service_unavailable', 'The gateway is busy. Try again shortly.', {
    ...{ cause, failover: false, retryAfterMs: 2_000 },
    ...told(cause),
  })

const UNREACHED = new Set(['ConnectionRefused', 'ECONNREFUSED', 'FailedToOpenSocket', 'ENOTFOUND'])

// fetch does not say when it has connected. A provider that is silent for as long as a connection may take is knocked
// at once more: only one that cannot be reached at all is given up.
export const probe = async (target: Target, abort: AbortController): Promise<void> => {
  if (PROXIES.some((name) => process.env[name])) return
  const { connectMs } = target.provider.timeouts
  const { hostname, port, protocol } = new URL(endpoint(target.account, target.wire))
  const at = port !== '' ? Number(port) : protocol === 'https:' ? 443 : 80
  const gaveUp = Symbol()
  const late = new Promise<typeof gaveUp>((resolve) =>
    setTimeout(() => resolve(gaveUp), Math.min(connectMs, 2_000)).unref(),
  )
  const opened = Bun.connect({ hostname, port: at, socket: { data() {}, open: (socket) => void socket.end() } }).then(
    () => undefined,
    () => undefined,
  )
  if ((await Promise.race([opened, late])) === gaveUp && !abort.signal.aborted) {
    abort.abort(timedOut('could not be reached'))
  }
}

/** Where fetch goes through a proxy, a connection of our own would say nothing of its. */
const PROXIES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']

const BETA_HEADERS = ['anthropic-beta', 'vendorA-beta']
const VERSION_HEADERS = ['anthropic-version', 'vendorA-version']

const requestHeaders = (target: Target, wire: Wire, client: Headers): Record<string, string> => {
  const { provider, account } = target
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    // Compressed events would arrive in blocks, not as they are written.
    'accept-encoding': 'identity',
    'user-agent': 'sluice',
  }
  if (provider.auth === 'bearer') headers.authorization = `Bearer ${account.credential}`
  else headers['x-api-key'] = account.credential
  const version = provider.versionHeader
  if (version !== undefined) {
    const beta = version.name.replace(/version$/i, 'beta')
    headers[version.name] =
      (wire === 'messages' ? firstOf(client, [version.name, ...VERSION_HEADERS]) : null) ?? version.value
    const asked = wire === 'messages' ? firstOf(client, [beta, ...BETA_HEADERS]) : null
    if (asked !== null) headers[beta] = asked
  }
  const openaiBeta = wire === 'responses' || wire === 'chat-completions' ? client.get('openai-beta') : null
  if (openaiBeta !== null) headers['openai-beta'] = openaiBeta
  return headers
}

const firstOf = (headers: Headers, names: string[]): string | null => {
  for (const name of names) {
    const value = headers.get(name)
    if (value !== null && value !== '') return value
  }
  return null
}
