// What listens: one address for everyone, or the operators' apart from the clients'. Which side a request is given, what
// every answer carries, and what no request may.

import { createApp } from '../app.ts'
import { type Address, isAmong } from '../config/origin.ts'
import { invalidRequest } from '../errors.ts'
import type { Gateway, Listener } from '../gateway.ts'
import { isTrusted } from '../http/address.ts'
import { cameByHttps } from '../http/admin/caller.ts'
import { type Side, wireAt } from '../http/endpoints.ts'
import { errorResponse, requestId } from '../http/respond.ts'
import { type Listening, listen } from './listener.ts'

type Doors = {
  clients: Listening
  /** The same one where they do not stand apart. */
  operators: Listening
  /** Where other processes listen as well. */
  shared: Listening | undefined
  all: readonly Listening[]
  listener: Listener
}

/** Of a process that keeps the books for others. `file`: where they pass requests on to. `serves`: it serves at their address too. */
export type ApartDoors = { file: string; serves: boolean }

/** A year: whoever ends TLS in front has done so for this name. */
const HSTS = 'max-age=31536000'
const ADMIN_FLAGS = { host: 'admin.listen', port: 'admin.listen' }

/** The door of one of several processes at the clients' address. `elsewhere`: the answer to what another serves. */
export const openSharedDoor = (
  gateway: Gateway,
  elsewhere: (request: Request) => Promise<Response> | undefined,
): Listening => {
  const { listen: address, adminListen } = gateway.config
  const serve = createServe(gateway, elsewhere)
  const answer = (request: Request) => serve(request, adminListen === undefined)
  return listenShared(gateway, address, answer)
}

/** Where other processes listen as well. */
const listenShared = (
  gateway: Gateway,
  address: Address,
  serve: (request: Request) => Promise<Response>,
): Listening => {
  let answered = 0
  const answer = async (request: Request): Promise<Response> => {
    const response = await serve(request)
    // Connections are spread when they are made, and never again: now and then one is made anew.
    if (gateway.draining || ++answered % ANEW_EVERY === 0) response.headers.set('connection', 'close')
    return response
  }
  return listen(address, answer, { frameBytes: gateway.config.bodyLimitBytes, place: { shared: true } })
}

/** Of so many answers one ends its connection. */
const ANEW_EVERY = 1_000

/** Throws a sentence for the operator where an address cannot be had. `apart`: of one that others serve for. */
export const openDoors = (gateway: Gateway, apart?: ApartDoors): Doors => {
  const { config } = gateway
  const serve = createServe(gateway)
  const { adminListen } = config
  const frameBytes = config.bodyLimitBytes
  const answer = (request: Request) => serve(request, adminListen === undefined)
  const all: Listening[] = []
  const opened = (door: Listening): Listening => {
    all.push(door)
    return door
  }
  try {
    const clients = opened(listen(config.listen, answer, { frameBytes, place: { file: apart?.file } }))
    const shared = apart?.serves === true ? opened(listenShared(gateway, config.listen, answer)) : undefined
    const operators =
      adminListen === undefined
        ? clients
        : opened(listen(adminListen, (request) => serve(request, true), { flags: ADMIN_FLAGS, frameBytes }))
    return { clients, operators, shared, all, listener: all.length === 1 ? clients : together(clients, all) }
  } catch (error) {
    for (const door of all) void door.stop(true)
    throw error
  }
}

const together = (clients: Listening, all: readonly Listening[]): Listener => ({
  ...clients,
  addressOf: (request) => {
    for (const each of all) {
      const address = each.addressOf(request)
      if (address !== undefined) return address
    }
    return undefined
  },
  // Any knows the requests of all.
  pending: () => all.reduce((sum, each) => sum + each.pending(), 0),
  upgrade: (request, end, headers) => all.some((each) => each.upgrade(request, end, headers)),
  streamed: (request) => {
    for (const each of all) each.streamed(request)
  },
})

/** `isAdminDoor`: operators are served at the address it came to. */
const createServe = (
  gateway: Gateway,
  elsewhere: (request: Request) => Promise<Response> | undefined = () => undefined,
) => {
  const { config, descriptors } = gateway
  // Apart from each other to the last route: a path that is written in another way finds nothing there either.
  const apps: Partial<Record<Side, ReturnType<typeof createApp>>> = {}
  const appFor = (side: Side) => {
    apps[side] ??= createApp(gateway, side)
    return apps[side]
  }
  return async (request: Request, isAdminDoor: boolean): Promise<Response> => {
    const host = request.headers.get('host') ?? ''
    const { hosts } = config.admin
    const side = isAdminDoor && (hosts.length === 0 || isAmong(hosts, host)) ? 'operators' : 'clients'
    // What those say who serve is shown by the operators' pages, and by what asks whether it is ready.
    const workers = gateway.workers !== undefined && !isOfWire(request.url) ? gateway.workers : undefined
    await workers?.ask()
    // Two of them, which one in front and we might each read another of.
    const response = host.includes(',') ? twoHosts(request) : await (elsewhere(request) ?? appFor(side).fetch(request))
    if (request.method !== 'GET') await workers?.tell()
    const { headers } = response
    if (!headers.has('x-request-id')) headers.set('x-request-id', requestId())
    headers.set('x-content-type-options', 'nosniff')
    if (cameByHttps(request, isTrusted(gateway, request))) headers.set('strict-transport-security', HSTS)
    // Kept alive, this connection would hold a descriptor that others need, or bring a request to one that is gone.
    if (descriptors.shortLately() || gateway.leaving) headers.set('connection', 'close')
    return response
  }
}

/** What nobody changes anything by, nor asks how those do who serve. */
const isOfWire = (url: string): boolean => url.startsWith('/v1/', url.indexOf('/', url.indexOf('//') + 2))

const twoHosts = (request: Request): Response => {
  const error = invalidRequest('Host: expected exactly one Host header, of one host.')
  return errorResponse(error, requestId(), wireAt(new URL(request.url, 'http://localhost').pathname))
}
