// What listens: one address for everyone, or the operators' apart from the clients'. Which side a request is given, what
// every answer carries, and what no request may.

import { createApp } from '../app.ts'
import { isAmong } from '../config/origin.ts'
import { invalidRequest } from '../errors.ts'
import type { Gateway, Listener } from '../gateway.ts'
import { isTrusted } from '../http/address.ts'
import { cameByHttps } from '../http/admin/caller.ts'
import { type Side, wireAt } from '../http/endpoints.ts'
import { errorResponse, requestId } from '../http/respond.ts'
import { type Listening, listen, type Place } from './listener.ts'

export type Doors = {
  clients: Listening
  /** The same one where they do not stand apart. */
  operators: Listening
  all: readonly Listening[]
  listener: Listener
}

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
  let answered = 0
  const answer = async (request: Request): Promise<Response> => {
    const response = await serve(request, adminListen === undefined)
    // Connections are spread when they are made, and never again: now and then one is made anew.
    if (gateway.draining || ++answered % ANEW_EVERY === 0) response.headers.set('connection', 'close')
    return response
  }
  return listen(address, answer, { frameBytes: gateway.config.bodyLimitBytes, place: { shared: true } })
}

/** Of so many answers one ends its connection. */
const ANEW_EVERY = 1_000

/** Throws a sentence for the operator where an address cannot be had. `place`: of the clients' door. */
export const openDoors = (gateway: Gateway, place?: Place): Doors => {
  const { config } = gateway
  const serve = createServe(gateway)
  const apart = config.adminListen
  const frameBytes = config.bodyLimitBytes
  const answer = (request: Request) => serve(request, apart === undefined)
  const clients = listen(config.listen, answer, { frameBytes, place })
  if (apart === undefined) return { clients, operators: clients, all: [clients], listener: clients }
  try {
    const operators = listen(apart, (request) => serve(request, true), { flags: ADMIN_FLAGS, frameBytes })
    const all = [clients, operators]
    const listener: Listener = {
      ...clients,
      addressOf: (request) => clients.addressOf(request) ?? operators.addressOf(request),
      // Either knows the requests of both.
      pending: () => clients.pending() + operators.pending(),
      upgrade: (request, end, headers) => all.some((each) => each.upgrade(request, end, headers)),
      streamed: (request) => {
        for (const each of all) each.streamed(request)
      },
    }
    return { clients, operators, all, listener }
  } catch (error) {
    void clients.stop(true)
    throw error
  }
}

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
    if (gateway.workers !== undefined && !request.url.includes('/v1/')) await gateway.workers.ask()
    // Two of them, which one in front and we might each read another of.
    const response = host.includes(',') ? twoHosts(request) : await (elsewhere(request) ?? appFor(side).fetch(request))
    if (gateway.workers !== undefined && request.method !== 'GET') await gateway.workers.tell()
    const { headers } = response
    if (!headers.has('x-request-id')) headers.set('x-request-id', requestId())
    headers.set('x-content-type-options', 'nosniff')
    if (cameByHttps(request, isTrusted(gateway, request))) headers.set('strict-transport-security', HSTS)
    // Kept alive, this connection would hold a descriptor that others need, or bring a request to one that is gone.
    if (descriptors.short() || gateway.leaving) headers.set('connection', 'close')
    return response
  }
}

const twoHosts = (request: Request): Response => {
  const error = invalidRequest('Host: expected exactly one Host header, of one host.')
  return errorResponse(error, requestId(), wireAt(new URL(request.url, 'http://localhost').pathname))
}
