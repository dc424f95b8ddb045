// A call of the admin API as an HTTP request, typed by the contract: for the page and the command line alike.

import type { Output, Part } from './contract.ts'
import { ADMIN_BASE, ROUTES, type Route, type RouteName } from './routes.ts'

/** What the caller gives: path members and body as they are, query members as far as they differ from the defaults. */
export type Ask<N extends RouteName> = Part<N, 'params'> & Partial<Part<N, 'query'>> & Part<N, 'body'>
export type Answer<N extends RouteName> = Output<N>

/** `path` begins at the gateway's root and has its query; `body` is JSON, absent where the method has none. */
type AdminRequest = { method: Route['method']; path: string; body?: string }

/** The route's name says method and path; the input fills path and query or body. Empty query members are left out. */
export const adminRequest = <N extends RouteName>(name: N, input?: Ask<N>): AdminRequest => {
  const { method, path } = ROUTES[name]
  const rest: Record<string, unknown> = { ...(input ?? {}) }
  const filled = path.replace(/:(\w+)/g, (_, member: string) => {
    const value = String(rest[member])
    delete rest[member]
    return encodeURIComponent(value)
  })
  if (method !== 'GET' && method !== 'DELETE') {
    return { method, path: ADMIN_BASE + filled, body: JSON.stringify(rest) }
  }
  const query = new URLSearchParams()
  for (const [member, value] of Object.entries(rest)) {
    if (value !== undefined && value !== '') query.set(member, String(value))
  }
  return { method, path: ADMIN_BASE + filled + (query.size > 0 ? `?${query}` : '') }
}
