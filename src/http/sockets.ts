// The responses wire by WebSocket: who may open one. What is said on it is answered by socket.ts.

import { unavailable } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import { requireAddress } from '../keys/address.ts'
import type { Key } from '../keys/key.ts'
import { clientAddress } from './address.ts'
import { noteRefusal } from './client-post.ts'
import { pathsOf } from './endpoints.ts'
import { wantsWebSocket } from './fallback.ts'
import { errorResponse, reported, requestId } from './respond.ts'
import { createSocket } from './socket.ts'

const PATHS: ReadonlySet<string> = new Set(pathsOf('/v1/responses'))

/** The answer to a request for a WebSocket; undefined for any other, and where none is spoken. */
export const upgrade = async (gateway: Gateway, request: Request): Promise<Response | undefined> => {
  if (!gateway.config.websockets || request.method !== 'GET' || !wantsWebSocket(request)) return undefined
  const { pathname } = new URL(request.url)
  if (!PATHS.has(pathname.replace(/\/$/, ''))) return undefined
  const id = requestId()
  const address = clientAddress(gateway, request)
  let key: Key | undefined
  try {
    const { keys } = gateway.store
    key = await keys.authenticate(request.headers)
    requireAddress(key, address)
    shed(gateway)
    const socket = createSocket(gateway, request, { key, changes: keys.changes() })
    const headers = { 'x-request-id': id, 'x-content-type-options': 'nosniff' }
    // The runtime answers a handshake that is none itself.
    if (gateway.listener?.upgrade(request, socket, headers) !== true) return undefined
    // Nobody gets it: the connection is no longer HTTP's.
    return new Response(null)
  } catch (thrown) {
    const error = reported(gateway.log, thrown, { request: id })
    const { status, code } = error
    gateway.metrics?.refused('responses', status, code)
    gateway.log.refused({ request: id, key: key?.id, address, path: pathname, status, code })
    if (key !== undefined) noteRefusal(gateway, key, { id, wire: 'responses', path: pathname, address }, error)
    return errorResponse(error, id, 'responses')
  }
}

/** A WebSocket holds a descriptor for as long as its client likes. */
const shed = ({ draining, descriptors, open, arriving, sockets }: Gateway): void => {
  if (draining) throw unavailable('is busy', { cause: 'stopping' })
  if (descriptors.short(open.size + arriving.count + sockets.count))
    throw unavailable('is busy', { cause: 'descriptors' })
}
