// The responses wire by WebSocket: who may open one. What is said on it is answered by socket.ts.

import { unavailable } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import { requireAddress } from '../keys/address.ts'
import { clientAddress } from './address.ts'
import { pathsOf } from './endpoints.ts'
import { wantsWebSocket } from './fallback.ts'
import { errorResponse, reported, requestId } from './respond.ts'
import { createSocket } from './socket.ts'

const PATHS: ReadonlySet<string> = new Set(pathsOf('/v1/responses'))

/** The answer to a request for a WebSocket; undefined for any other, and where none is spoken. */
export const upgrade = (gateway: Gateway, request: Request): Response | undefined => {
  if (!gateway.config.websockets || request.method !== 'GET' || !wantsWebSocket(request)) return undefined
  const { pathname } = new URL(request.url)
  if (!PATHS.has(pathname.replace(/\/$/, ''))) return undefined
  const id = requestId()
  try {
    const { keys } = gateway.store
    const key = keys.authenticate(request.headers)
    requireAddress(key, clientAddress(gateway, request))
    shed(gateway)
    const socket = createSocket(gateway, request, { key, changes: keys.changes() })
    // The runtime answers a handshake that is none itself.
    if (gateway.listener?.upgrade(request, socket, { 'x-request-id': id }) !== true) return undefined
    // Nobody gets it: the connection is no longer HTTP's.
    return new Response(null)
  } catch (thrown) {
    const error = reported(gateway.log, thrown, { request: id })
    gateway.metrics?.refused('responses', error.status, error.code)
    gateway.log.refused({ request: id, path: pathname, status: error.status, code: error.code })
    return errorResponse(error, id, 'responses')
  }
}

/** A WebSocket holds a descriptor for as long as its client likes. */
const shed = ({ draining, descriptors, open, arriving, sockets }: Gateway): void => {
  if (draining) throw unavailable('is busy', { cause: 'stopping' })
  if (descriptors.short(open.size + arriving.count + sockets.count))
    throw unavailable('is busy', { cause: 'descriptors' })
}
