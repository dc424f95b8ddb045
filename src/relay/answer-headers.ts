// What every answer of a model carries in its head: the request's id, the limits' state, what was left out.

import type { ClientRequest } from './exchange.ts'

/** What an answer's head tells of its request. */
export type Heading = Pick<ClientRequest, 'id' | 'wire' | 'headersOut' | 'dropped'>

/** Of a stream: passed on as it comes, by whatever stands between. */
export const streamHeaders = (request: Heading): Record<string, string> => {
  const headers = answerHeaders(request, 'text/event-stream; charset=utf-8')
  headers['cache-control'] = 'no-cache, no-transform'
  headers['x-accel-buffering'] = 'no'
  return headers
}

/** `contentType`: of the body. */
export const answerHeaders = (request: Heading, contentType: string): Record<string, string> => {
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
