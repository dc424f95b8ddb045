// The client API as data: which methods are served where, for discovery, wrong methods and the OpenAPI document.

import type { Operation, Wire } from '../ir/wire.ts'
import { nearest } from '../lib/nearest.ts'

/** `asked`: what a model is asked for there. */
export type ListedEndpoint = { method: 'GET' | 'POST' | 'DELETE'; path: string; wire: Wire | null; asked?: Operation }

export const ENDPOINTS: readonly ListedEndpoint[] = [
  { method: 'GET', path: '/v1', wire: null },
  { method: 'GET', path: '/v1/models', wire: null },
  { method: 'GET', path: '/v1/models/{id}', wire: null },
  { method: 'GET', path: '/v1/usage', wire: null },
  { method: 'GET', path: '/v1/usage/history', wire: null },
  { method: 'POST', path: '/v1/chat/completions', wire: 'chat-completions' },
  { method: 'POST', path: '/v1/responses', wire: 'responses' },
  { method: 'POST', path: '/v1/messages', wire: 'messages' },
  { method: 'POST', path: '/v1/images/generations', wire: 'images' },
  { method: 'POST', path: '/v1/messages/count_tokens', wire: 'messages' },
  { method: 'POST', path: '/v1/responses/input_tokens', wire: 'responses' },
  { method: 'POST', path: '/v1/responses/compact', wire: 'responses', asked: 'responses/compact' },
  { method: 'GET', path: '/v1/responses/{id}', wire: 'responses' },
  { method: 'DELETE', path: '/v1/responses/{id}', wire: 'responses' },
  { method: 'POST', path: '/v1/responses/{id}/cancel', wire: 'responses' },
  { method: 'GET', path: '/v1/responses/{id}/input_items', wire: 'responses' },
  { method: 'POST', path: '/v1/images/edits', wire: 'images', asked: 'images/edits' },
  { method: 'POST', path: '/v1/images/variations', wire: 'images', asked: 'images/variations' },
  { method: 'POST', path: '/v1/embeddings', wire: 'embeddings' },
  { method: 'POST', path: '/v1/moderations', wire: 'moderations' },
  { method: 'POST', path: '/v1/audio/speech', wire: 'audio', asked: 'audio/speech' },
  { method: 'POST', path: '/v1/audio/transcriptions', wire: 'audio', asked: 'audio' },
  { method: 'POST', path: '/v1/audio/translations', wire: 'audio', asked: 'audio/translations' },
]

/** The paths of an endpoint: also with /v1 twice, for clients that add it to a base URL that ends in it. */
export const pathsOf = (path: string): string[] => [path, `/v1${path}`]

// Without the lookbehind, a long run of slashes would take quadratic time.
const normalized = (pathname: string): string => pathname.replace(/(?<!\/)\/+$/, '').replace(/^\/v1\/v1(?=\/|$)/, '/v1')

/** The wire whose clients use a path, whether there is an endpoint or not. */
export const wireAt = (pathname: string): Wire | undefined => {
  const path = `${normalized(pathname)}/`
  return ENDPOINTS.find((endpoint) => endpoint.wire !== null && path.startsWith(`${endpoint.path}/`))?.wire ?? undefined
}

/** Who is served: the holders of keys, or operators and members too. */
export type Side = 'clients' | 'operators'

/** Where the process says that it runs; model servers say it at the shorter one, and load tools look there first. */
export const ALIVE: readonly string[] = ['/healthz', '/health']

/** The pages and probes beside the client API. */
const PAGES: Readonly<Record<Side, RegExp>> = {
  clients: /^\/(?:(?:healthz?|readyz|usage)(?=\/?$)|docs(?=\/|$))/,
  operators: /^\/(?:(?:healthz?|readyz|usage)(?=\/?$)|(?:docs|dashboard)(?=\/|$))/,
}

/** The endpoint or page at a path, and its methods. */
export const servedAt = (
  pathname: string,
  side: Side = 'operators',
): { path: string; methods: string[] } | undefined => {
  const endpoints = endpointsAt(pathname)
  const [endpoint] = endpoints
  if (endpoint !== undefined)
    return { path: endpoint.path, methods: endpoints.flatMap(({ method }) => METHODS[method]) }
  const page = PAGES[side].exec(pathname)?.[0]
  return page === undefined ? undefined : { path: page, methods: METHODS.GET }
}

const METHODS = { GET: ['GET', 'HEAD'], POST: ['POST'], DELETE: ['DELETE'] }

/** A model's id may contain slashes; an answer's does not, and is not what the vendor calls an endpoint of its own. */
const PATTERNS = new Map(
  ENDPOINTS.map(({ path }) => [
    path,
    new RegExp(`^${path.replace('models/{id}', 'models/.+').replace('{id}', '(?!compact$)[^/]+')}$`),
  ]),
)

/** The endpoints at a path, whatever the method: exact matches, else those with an id in the path. */
const endpointsAt = (pathname: string): ListedEndpoint[] => {
  const path = normalized(pathname)
  const exact = ENDPOINTS.filter((endpoint) => endpoint.path === path)
  return exact.length > 0 ? exact : ENDPOINTS.filter((endpoint) => PATTERNS.get(endpoint.path)?.test(path))
}

/** What clients add to their base URL, the longest first. */
const TAILS = ENDPOINTS.flatMap(({ method, path }) =>
  path === '/v1' || path.includes('{') ? [] : { method, tail: path.slice('/v1'.length) },
).toSorted((a, b) => b.tail.length - a.tail.length)

const NAMES = new Set(TAILS.map(({ tail }) => `/v1${tail}`))

/** Where a path that is not served was probably meant to go, and what to do about the base URL. */
export const insteadOf = (pathname: string): string | undefined => {
  const path = normalized(pathname.slice(0, LONGEST).replace(/\/{2,}/g, '/'))
  if (path === '') return
  const [direct] = [...endpointsAt(`/v1${path}`), ...endpointsAt(path)]
  if (direct !== undefined)
    return `It is at ${direct.path}${path.startsWith('/v1/') ? '' : ': end the base URL in /v1'}.`
  const lower = path.toLowerCase()
  // A list of models or what was used may be another program's, unless it stands behind a version.
  const found = TAILS.find(({ method, tail }) => lower.endsWith(method === 'POST' ? tail : `/v1${tail}`))
  if (found !== undefined) return atTheEnd(found.tail, path.slice(0, -found.tail.length))
  const near = nearest(path, NAMES)
  return near === undefined ? undefined : `Did you mean ${near}?`
}

const LONGEST = 200

/** `before`: what stands before that which the client added. It may be another endpoint's path, but none below one. */
const atTheEnd = (tail: string, before: string): string | undefined => {
  const base = before.replace(/\/v1$/i, '')
  if (before.startsWith('/v1/') && endpointsAt(before).length === 0) return
  const advice = base === before ? `: write /v1 for ${before} in` : base === '' ? '' : `: leave ${base} out of`
  return `It is at /v1${tail}${advice === '' ? '' : `${advice} the base URL`}.`
}
