// The client API as data: what is served where, for discovery, for wrong methods, and for the list of URLs.

import type { Wire } from '../ir/wire.ts'

export type ListedEndpoint = { method: 'GET' | 'POST'; path: string; wire: Wire | null }

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
]

/** The endpoint at a path, whatever the method. Clients whose base ends in /v1 double it: that is understood. */
export const endpointAt = (pathname: string): ListedEndpoint | undefined => {
  const path = pathname.replace(/\/+$/, '').replace(/^\/v1\/v1(?=\/)/, '/v1')
  return ENDPOINTS.find(
    (endpoint) => endpoint.path === path || (endpoint.path === '/v1/models/{id}' && path.startsWith('/v1/models/')),
  )
}
