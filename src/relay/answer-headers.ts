// The headers of a model's answer: the request id, the rate limits, what was dropped from the request.

import type { ClientRequest } from './exchange.ts'

/** What the headers of an answer say of its request. */
export type Heading = Pick<ClientRequest, 'id' | 'wire' | 'limitHeaders' | 'dropped'>

/** Of a stream, with what keeps proxies from buffering it. */
export const streamHeaders = (request: Heading): Record<string, string> => {
  const headers = answerHeaders(request, 'text/event-stream; charset=utf-8')
  headers['cache-control'] = 'no-cache, no-transform'
  headers['x-accel-buffering'] = 'no'
  return headers
}

export const answerHeaders = (request: Heading, contentType: string): Record<string, string> => {
  const headers: Record<string, string> = {
    ...request.limitHeaders,
    'content-type': contentType,
    'x-request-id': request.id,
  }
  if (request.wire === 'messages') headers['request-id'] = request.id
  if (request.dropped.length > 0) headers['x-gateway-dropped'] = headerList(request.dropped)
  return headers
}

/** Paths as one header value: printable ASCII. */
const headerList = (paths: string[]): string => paths.join(', ').replace(/[^\x20-\x7e]/g, '?')
