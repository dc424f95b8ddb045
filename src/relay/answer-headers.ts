// What every answer of a model carries in its head: the request's id, the limits' state, what was left out.

import type { ClientRequest } from './exchange.ts'

/** `contentType`: of the body. */
export const answerHeaders = (request: ClientRequest, contentType: string): Record<string, string> => {
  const headers: Record<string, string> = {
    ...request.headersOut,
    'content-type': contentType,
    'x-request-id': request.id,
  }
  if (request.wire === 'messages') headers['request-id'] = request.id
  if (request.dropped.length > 0) headers['x-gateway-dropped'] = headerList(request.dropped)
  return headers
}

/** Paths as one header value: printable ASCII, within what clients and proxies accept. */
const headerList = (paths: string[]): string =>
  paths
    .join(', ')
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, 4_000)
