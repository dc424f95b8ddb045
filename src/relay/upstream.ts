// Requests to providers: their headers, by an allow-list, and network failures as errors of the gateway.

import { type ErrorOptions, GatewayError, type ProviderFailure, unavailable } from '../errors.ts'
import type { Wire } from '../ir/wire.ts'
import { canOpen } from '../lib/descriptors.ts'
import { isKeptFromProxy } from '../lib/no-proxy.ts'
import { bodyOf } from '../lib/pieces.ts'
import { portOf, proxyVariables } from '../lib/proxy.ts'
import { ran } from '../lib/ran.ts'
import { codeOf } from '../lib/system-code.ts'
import { traceHeaders } from '../lib/trace-context.ts'
import { endpoint } from '../provider/endpoint.ts'
import { betasFor } from './adapt/betas.ts'
import type { Relay } from './services.ts'
import type { Outgoing, Target } from './target.ts'

// A failed stream has no status: coding agents tell by words such as these whether to ask again (decisions/0003).
export const timedOut = (what: string, options: ErrorOptions = {}): GatewayError =>
  new GatewayError('gateway_timeout', `Request timed out: the provider ${what} in time. Try again.`, options)

export const broken = (cause?: unknown): GatewayError =>
  new GatewayError('upstream_error', 'Connection error: the provider broke off. Try again.', {
    cause,
    ...systemCode(cause),
  })

/** The system's error code, by which operators tell a wrong host name from a wrong certificate. */
const systemCode = (cause: unknown): { provider?: ProviderFailure } => {
  const code = codeOf(cause)
  return code === '' ? {} : { provider: { code } }
}

/**
 * Sends a request and resolves once the provider's headers are there. `abort` ends the call; its reason is a GatewayError,
 * or none when the client disconnected. Throws GatewayError for network failures.
 */
export const send = async (
  { relay, target, abort }: { relay: Pick<Relay, 'fetch'>; target: Target; abort: AbortController },
  outgoing: Outgoing,
  client: Headers,
): Promise<Response> => {
  const { auth } = target.provider
  const { method = 'POST', url, body } = auth === 'google' ? (await vertex()).forVertex(target, outgoing) : outgoing
  const plain = requestHeaders(target, target.wire, client)
  const proven = auth === 'aws-sigv4' || auth === 'google' ? await provenHeaders(target, outgoing, plain, abort) : plain
  // What is given whole the runtime has copied when `fetch` returns.
  const given = body === undefined ? undefined : bodyOf(body)
  const request = {
    method,
    headers: {
      ...proven,
      ...(outgoing.contentType && { 'content-type': outgoing.contentType }),
      ...(outgoing.trace && traceHeaders(outgoing.trace)),
      ...given?.headers,
    },
    ...(given && { body: given.body }),
    signal: abort.signal,
    // Credentials must not follow a redirect to wherever it points.
    redirect: 'manual',
    // Bun's own limit would cut a model that thinks for long.
    timeout: false,
    // Decompressed by whoever reads it: see answerBody.
    decompress: false,
    ...(target.provider.proxy === undefined ? {} : { proxy: target.provider.proxy }),
    ...(mayClose(target, url) && { keepalive: false }),
  } as RequestInit
  const sentAt = ran.begin(STALE_MS)
  try {
    return seen(target, await relay.fetch(url, request))
  } catch (error) {
    if (!isStale(error, sentAt) || abort.signal.aborted) throw networkError(error, abort)
  }
  try {
    // Other kept connections may be stale too.
    const again = { ...request, ...(body && { body: bodyOf(body).body }), keepalive: false }
    return seen(target, await relay.fetch(url, again))
  } catch (error) {
    throw networkError(error, abort)
  }
}

/**
 * When each account's server has failed last. Some servers (all on uvicorn) close the connection of a fault that they did not
 * expect once they have written it down, without a word of it in their answer: what is sent over it until then is lost.
 */
const FAILED = new WeakMap<Target['account'], number>()
const CLOSES_WITHIN_MS = 60_000

/** Vendors, which are asked by https, have a proxy in front that keeps its connections, and a new one costs much there. */
const mayClose = ({ account }: Target, url: string): boolean =>
  url.startsWith('http:') && performance.now() - (FAILED.get(account) ?? Number.NEGATIVE_INFINITY) < CLOSES_WITHIN_MS

const seen = ({ account }: Target, response: Response): Response => {
  if (response.status === 500) FAILED.set(account, performance.now())
  return response
}

const vertex = () => import('./adapt/vertex.ts')

/** Of providers that are shown no credential as it is. A token may be long in coming: `abort` ends the wait for it. */
const provenHeaders = async (
  target: Target,
  outgoing: Outgoing,
  headers: Record<string, string>,
  abort: AbortController,
): Promise<Record<string, string>> => {
  if (target.provider.auth === 'aws-sigv4')
    return (await import('./adapt/signature.ts')).signed(target, outgoing, headers)
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const end = (): void => reject(abort.signal.reason)
  abort.signal.addEventListener('abort', end)
  try {
    return await Promise.race([(await vertex()).authorized(headers), ended])
  } catch (error) {
    throw networkError(error, abort)
  } finally {
    abort.signal.removeEventListener('abort', end)
  }
}

/** A kept connection that the provider had closed fails this soon when it is used again. */
const STALE_MS = 500

// The provider has not read the request then, as a rule: it is sent once more, over a new connection.
const isStale = (error: unknown, sentAt: number): boolean => ran.since(sentAt) <= STALE_MS && isClosed(error)

/** Whether an exception says that the provider has closed the connection. */
export const isClosed = (error: unknown): boolean => CLOSED.has(codeOf(error))

const CLOSED = new Set(['ECONNRESET', 'ConnectionClosed', 'EPIPE'])

/** What an exception of fetch or of reading a body means. */
export const networkError = (error: unknown, abort: AbortController): GatewayError => {
  if (error instanceof GatewayError) return error
  if (abort.signal.reason instanceof GatewayError) return abort.signal.reason
  const code = codeOf(error)
  if (code === 'ETIMEDOUT' || code === 'ConnectionTimeout') return timedOut('could not be reached')
  // For a host with several addresses, fetch reports the lack of a descriptor as a refused connection.
  if (NO_DESCRIPTOR.has(code) || (UNREACHABLE.has(code) && !canOpen(1)))
    return unavailable('is busy', { cause: error, ...systemCode(error) })
  if (UNREACHABLE.has(code)) {
    const message = 'Connection error: the provider could not be reached. Try again.'
    return new GatewayError('upstream_error', message, { cause: error, ...systemCode(error) })
  }
  return broken(error)
}

const NO_DESCRIPTOR = new Set(['EMFILE', 'ENFILE'])

const UNREACHABLE = new Set(['ConnectionRefused', 'ECONNREFUSED', 'FailedToOpenSocket', 'ENOTFOUND'])

/**
 * Opens a connection to a target, secured where its URL says so, and closes it again; resolves with false where none opens
 * in time. For a provider that is silent for as long as connecting may take: fetch does not say whether it has connected.
 * One test at a time serves all calls that wait for an account: to secure many at once would hold up every stream.
 */
export const canConnect = (target: Target): Promise<boolean> => {
  const underway = TESTS.get(target.account)
  if (underway !== undefined) return underway
  const test = connects(target).finally(() => TESTS.delete(target.account))
  TESTS.set(target.account, test)
  return test
}

const TESTS = new WeakMap<Target['account'], Promise<boolean>>()

const connects = async (target: Target): Promise<boolean> => {
  const { connectMs } = target.provider.timeouts
  const url = new URL(endpoint(target.account, target.wire))
  // Where fetch goes through a proxy, a direct connection says nothing about it.
  if (goesByProxy(target.provider, url)) return true
  const { hostname, protocol } = url
  const isSecured = protocol === 'https:'
  const at = Number(portOf(url))
  const connected = Promise.withResolvers<boolean>()
  let opened: Bun.Socket | undefined
  setTimeout(
    () => {
      connected.resolve(false)
      opened?.terminate()
    },
    Math.min(connectMs, isSecured ? MOST_MS.secured : MOST_MS.plain),
  ).unref()
  const leave = (socket: Bun.Socket): void => {
    socket.end()
    connected.resolve(true)
  }
  // A connection or a certificate that is refused is reported by fetch itself.
  Bun.connect({
    ...{ hostname, port: at },
    ...(isSecured ? { tls: { serverName: hostname, rejectUnauthorized: false } } : {}),
    socket: {
      data() {},
      open: (socket) => {
        opened = socket
        if (!isSecured) leave(socket)
      },
      handshake: leave,
    },
  }).catch(() => connected.resolve(true))
  return connected.promise
}

/** A connection is open after one round trip, and secured after three at most. */
const MOST_MS = { plain: 2_000, secured: 6_000 }

/** NO_PROXY counts for a provider's own proxy as well. */
const goesByProxy = ({ proxy }: Target['provider'], url: URL): boolean =>
  typeof proxy === 'string'
    ? !isKeptFromProxy(url.hostname, portOf(url))
    : proxy !== false && proxyVariables(url).length > 0

const VERSION_HEADERS = ['anthropic-version', 'vendorA-version']

const requestHeaders = (target: Target, wire: Wire, client: Headers): Record<string, string> => {
  const { provider, account } = target
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    // Compressed events would arrive in blocks, not as they are written.
    'accept-encoding': 'identity',
    'user-agent': 'sluice',
    ...provider.headers,
  }
  if (provider.auth === 'bearer') headers.authorization = `Bearer ${account.credential}`
  else if (provider.auth !== 'aws-sigv4' && provider.auth !== 'google') headers[provider.auth] = account.credential
  const version = provider.versionHeader
  if (version !== undefined) {
    headers[version.name] =
      (wire === 'messages' ? firstOf(client, [version.name, ...VERSION_HEADERS]) : null) ?? version.value
    const betas = betasFor(target, client)
    if (betas !== undefined && betas.sent.length > 0) headers[betas.name] = betas.sent.join(',')
  }
  const openaiBeta = wire === 'responses' || wire === 'chat-completions' ? client.get('openai-beta') : null
  // How a client speaks with us is no affair of the provider's.
  const betas = openaiBeta?.split(',').filter((beta) => !beta.trim().startsWith('responses_websockets')) ?? []
  if (betas.length > 0) headers['openai-beta'] = betas.join(',')
  return headers
}

const firstOf = (headers: Headers, names: string[]): string | null => {
  for (const name of names) {
    const value = headers.get(name)
    if (value !== null && value !== '') return value
  }
  return null
}
