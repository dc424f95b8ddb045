// The HTTP server: Bun's, with time limits of our own, each request under a URL that the framework can read.

import { type Address, originOf } from '../config/origin.ts'
import type { Listener, SocketEnd } from '../gateway.ts'
import { codeOf } from '../lib/system-code.ts'

/** Bun answers a body past its own limit by itself, without the envelope: its limit must never be the one that counts. */
const BUN_BODY_LIMIT = Number.POSITIVE_INFINITY
/**
 * How long a connection may stay without a whole request: peers that vanish do not close theirs. Longer than proxies keep
 * theirs, and within the 255 seconds that Bun can count.
 */
const IDLE_S = 240

export type Listening = Listener & {
  url: string
  host: string
  port: number
  /** Takes no more connections and resolves when the last is gone; `cut`: those there are end at once. */
  stop(cut?: boolean): Promise<void>
  /** The ports at the other end of the connections that have a request which is not answered yet. */
  busyPeers(): Set<number>
  /** Closes the connections on which nothing has been asked since their last answer. */
  closeIdle(): void
}

/** `file`: a socket in place of the address, for processes that pass requests on. `shared`: others listen there as well. */
export type Place = { file?: string | undefined; shared?: boolean | undefined }

/** The address of the peer that a request came from, by the word of the process that passes it on. */
export const PEER_HEADER = 'x-sluice-peer'

type Options = {
  /** What address and port are chosen by. */
  flags?: Flags
  /** The largest body that a WebSocket may bring. */
  frameBytes?: number
  place?: Place | undefined
}

/** Throws a sentence for the operator where the address or the port cannot be had. */
export const listen = (
  { host, port }: Address,
  answer: (request: Request) => Promise<Response>,
  { flags = LISTEN_FLAGS, frameBytes = 0, place = {} }: Options = {},
): Listening => {
  const open = new Set<Request>()
  const sockets = new Map<SocketEnd, number>()
  const upgraded = new WeakSet<Request>()
  const lent = new WeakMap<Request, string>()
  const lend = (request: Request, address: string | undefined): void => {
    if (address !== undefined) lent.set(request, address)
  }
  const end = (request: Request): void => {
    // A request that came over a WebSocket has no connection of its own.
    if (!open.delete(request)) return
    server.timeout(request, IDLE_S)
  }
  const upgrade = (request: Request, far: SocketEnd, headers: Record<string, string>): boolean => {
    if (!open.has(request)) return false
    const peer = server.requestIP(request)?.port ?? 0
    if (!server.upgrade(request, { data: far, headers })) return false
    sockets.set(far, peer)
    upgraded.add(request)
    open.delete(request)
    return true
  }
  const websocket = socketHandler(frameBytes, (far) => sockets.delete(far))
  const server = bind({ host, port, websocket }, place, flags, async (request, on) => {
    if (place.file !== undefined) lend(request, request.headers.get(PEER_HEADER) ?? undefined)
    // A request that has come has the gateway's own limits: it may take as long as its provider may think.
    on.timeout(request, 0)
    open.add(request)
    let goesOn = false
    try {
      const response = await answer(named(request))
      goesOn = isStream(response)
      return upgraded.has(request) ? undefined : response
    } finally {
      if (!goesOn) end(request)
    }
  })
  const at = server.port ?? port
  return {
    url: originOf({ host, port: at }),
    host,
    port: at,
    addressOf: (request) =>
      lent.get(request) ?? (place.file === undefined ? server.requestIP(request)?.address : undefined),
    lend,
    streamed: end,
    upgrade,
    pending: () => server.pendingRequests,
    busyPeers: () =>
      new Set([
        ...[...open].flatMap((request) => server.requestIP(request)?.port ?? []),
        ...[...sockets].flatMap(([far, peer]) => (far.isBusy() ? peer : [])),
      ]),
    stop: (cut) => server.stop(cut),
    closeIdle: () => void server.closeIdleConnections(),
  }
}

type BunServer = Bun.Server<SocketEnd>

/** A peer of a WebSocket that says nothing for so long, and answers no ping, is gone. */
const SOCKET_IDLE_S = 120
/** Beside a body as large as it may be: the members that a request has none of. */
const EVENT_BYTES = 4 * 1024
/** Who writes to a socket waits for its reader: what the runtime would do past this is never asked for. */
const UNSENT_BYTES = 2 ** 31 - 1

const socketHandler = (frameBytes: number, gone: (far: SocketEnd) => void): Bun.WebSocketHandler<SocketEnd> => ({
  idleTimeout: SOCKET_IDLE_S,
  sendPings: true,
  maxPayloadLength: frameBytes + EVENT_BYTES,
  backpressureLimit: UNSENT_BYTES,
  perMessageDeflate: false,
  open: (socket) =>
    socket.data.opened({
      send: (text) => void socket.send(text),
      unsent: () => socket.getBufferedAmount(),
      close: (code, reason) => socket.close(code, reason),
    }),
  message: (socket, message) => socket.data.said(message),
  drain: (socket) => socket.data.drained(),
  close: (socket) => {
    gone(socket.data)
    socket.data.closed()
  },
})

type Flags = { host: string; port: string }
const LISTEN_FLAGS: Flags = { host: '--host', port: '--port' }

const bind = (
  { host: hostname, port, websocket }: Address & { websocket: Bun.WebSocketHandler<SocketEnd> },
  { file, shared = false }: Place,
  flags: Flags,
  answer: (request: Request, on: BunServer) => Promise<Response | undefined>,
): BunServer => {
  const limits = { idleTimeout: IDLE_S, maxRequestBodySize: BUN_BODY_LIMIT }
  try {
    return file === undefined
      ? Bun.serve<SocketEnd>({ hostname, port, reusePort: shared, ...limits, fetch: answer, websocket })
      : Bun.serve<SocketEnd>({ unix: file, maxRequestBodySize: BUN_BODY_LIMIT, fetch: answer, websocket })
  } catch (cause) {
    const code = codeOf(cause, 'unknown')
    const message =
      BIND_ERRORS[code]?.(hostname, port, flags) ?? `Nothing can listen on port ${port} of ${hostname} (${code}).`
    throw Object.assign(new Error(message, { cause }), { code })
  }
}

const noAddress = (host: string, _: number, flags: Flags): string =>
  `${host} is not an address of this machine: choose another with ${flags.host}, 0.0.0.0 for all of them.`

const BIND_ERRORS: Readonly<Record<string, (host: string, port: number, flags: Flags) => string>> = {
  EADDRINUSE: (host, port, flags) =>
    `Port ${port} of ${host} is in use: stop what listens there, or choose another with ${flags.port}.`,
  EACCES: (host, port, flags) =>
    `This user may not listen on port ${port} of ${host}: choose one above 1023 with ${flags.port}, or give it the right to.`,
  EADDRNOTAVAIL: noAddress,
  EINVAL: noAddress,
  ENOTFOUND: noAddress,
  ENOENT: noAddress,
}

/**
 * The framework looks for the path behind the shortest host it can think of, four characters. A request under a shorter
 * name, of a container for instance, under one that is none or under none at all (HTTP/1.0) is given another; one to the
 * client API under a base that ends in a slash is given the path that was meant.
 */
const named = (request: Request): Request => {
  const { url } = request
  // Without a usable host it is the path alone.
  const at = url.startsWith('/') ? 0 : url.indexOf('/', 8)
  const isUsable = at >= 11 && isOrigin(url, at)
  if (isUsable && !url.includes('//', at)) return request
  const path = at === -1 ? '/' : url.slice(at)
  const meant = path.replace(BASE, (base) => base.replace(/\/+/g, '/'))
  if (isUsable && meant === path) return request
  // The same request under another name: one made from it hangs when its body is given up half read.
  return Object.defineProperty(request, 'url', { value: `http://localhost${meant}` })
}

/** What the last URL began with that can be parsed: nearly all begin alike. */
let origin = ''

/** Whether so much of a URL can be parsed, and so all of it, as any path can. */
const isOrigin = (url: string, length: number): boolean => {
  if (length === origin.length && url.startsWith(origin)) return true
  if (!URL.canParse(url)) return false
  origin = url.slice(0, length)
  return true
}

/** The beginning of a path of the client API, as clients put it together. */
const BASE = /^\/+(?:v1\/+){1,2}(?=[^/?])/

/** The body of others is not asked for: a stream would be made of it. */
const isStream = (response: Response): boolean =>
  response.headers.get('content-type')?.startsWith('text/event-stream') === true && response.body !== null
