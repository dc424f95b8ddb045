// A client's POST: known before its body is read, admitted in the contract's order, and refused in its wire's words.

import { GatewayError, invalidRequest } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import type { JsonObject } from '../ir/json.ts'
import type { Wire } from '../ir/wire.ts'
import type { Key } from '../keys/key.ts'
import { requireInForce } from '../keys/status.ts'
import type { Ticket } from '../ledger/limits.ts'
import { splice } from '../lib/json-splice.ts'
import { openBody, openText } from '../relay/client-body.ts'
import { type Client, type ClientRequest, leave } from '../relay/exchange.ts'
import { wireOf } from '../relay/route.ts'
import { admit, type Check, REQUESTS } from './admit.ts'
import { isPacked, readBody } from './read-body.ts'
import { errorResponse, reported, requestId } from './respond.ts'

/** A request whose key is known and within its limits. */
export type Post = {
  readonly wire: Wire
  readonly request: Request
  /** The request id the client sees. */
  readonly id: string
  readonly key: Key
  readonly ticket: Ticket
  /** Bytes of the body it announced. */
  readonly announced: number
  /** Set once it was admitted: from then on it is accounted for by what it has become. */
  admitted: boolean
}

/** What `answer` throws is answered as an error of the contract; what was refused before it was admitted consumes nothing. */
export const answerPost = async (
  gateway: Gateway,
  wire: Wire,
  request: Request,
  answer: (post: Post) => Promise<Response>,
): Promise<Response> => {
  const id = requestId()
  let key: Key | undefined
  let post: Post | undefined
  try {
    key = gateway.store.keys.authenticate(request.headers)
    const announced = announcedBy(request, gateway)
    shed(gateway, key, announced)
    post = { wire, request, id, key, ticket: gateway.limits.enter(key), announced, admitted: false }
    // Until it is admitted, so that those who come at once are counted one by one.
    gateway.arriving.add(key.id, announced)
    return await answer(post)
  } catch (thrown) {
    const error = reported(gateway.log, thrown, { request: id })
    if (post?.admitted !== true) {
      if (post !== undefined) arrived(gateway, post)
      post?.ticket.refund()
      gateway.metrics?.refused(wire, error.status, error.code)
      gateway.log.refused({
        request: id,
        key: key?.id,
        path: new URL(request.url).pathname,
        status: error.status,
        code: error.code,
      })
    }
    return errorResponse(error, id, wire, key === undefined ? {} : gateway.limits.headers(key, wire))
  }
}

/** One that is larger than allowed is not read; a packed one may unfold to all that is. */
const announcedBy = ({ headers }: Request, { config }: Gateway): number => {
  const bytes = isPacked(headers) ? config.bodyLimitBytes : Number(headers.get('content-length') ?? 0)
  return bytes > 0 && bytes <= config.bodyLimitBytes ? bytes : 0
}

const arrived = ({ arriving }: Gateway, { key, announced }: Post): void => arriving.remove(key.id, announced)

/** Past what the machine can hold, or on its way out, the gateway says so at once. */
const shed = (gateway: Gateway, { id }: Key, announced: number): void => {
  const { maxOpenExchanges, maxMemoryBytes } = gateway.config
  const inside = gateway.open.size + gateway.arriving.count
  if (
    gateway.draining ||
    (maxOpenExchanges > 0 && inside >= maxOpenExchanges) ||
    (maxMemoryBytes > 0 && gateway.memory.past(maxMemoryBytes, inside, gateway.arriving.with(id, announced))) ||
    (inside > 0 && gateway.descriptors.short())
  ) {
    throw new GatewayError('service_unavailable', 'The gateway is busy. Try again shortly.', { retryAfterMs: 2_000 })
  }
}

/** Reads and admits the body, and resolves what it refers to. `check`: what a body must be. */
export const openPost = async (
  gateway: Gateway,
  { wire, request, key }: Post,
  check: Check,
): Promise<Pick<ClientRequest, 'asked' | 'asSent' | 'body' | 'model'>> => {
  const bytes = await readBody(request, gateway.config.bodyLimitBytes, gateway.config.bodyTimeoutMs)
  // A body may take long, and meanwhile the key may have been revoked.
  requireInForce(key, gateway.clock.now())
  const asSent = openBody(bytes, (name) => translates(gateway, wire, name))
  const asked = askedOn(wire, asSent.outline)
  const fit = asked === wire ? check : REQUESTS[asked]
  const model = admit(asked, fit, asSent, key, gateway.catalogue, gateway.config.hideForbiddenModels)
  if (asked !== wire && asSent.outline.background === true) {
    // Its client could not come back for it, and nobody would settle it.
    const say = 'an answer in the background is given at POST /v1/responses only. Ask there, or leave it out.'
    throw invalidRequest(`background: ${say}`, 'background')
  }
  const edits = wire === 'responses' ? gateway.recall.edits(key.id, () => asSent.whole().body) : []
  const body = edits.length === 0 ? asSent : openText(splice(asSent.whole().text, edits))
  return { asked, asSent, body, model }
}

/** Editors ask vendor_b's newer models in the words of the responses wire at the older wire's address, and read its answers. */
const askedOn = (wire: Wire, { messages, input }: JsonObject): Wire =>
  wire === 'chat-completions' && messages === undefined && input !== undefined ? 'responses' : wire

/** Admits a request: from here on it is in flight, and its client may leave it. */
export const enter = (gateway: Gateway, post: Post): Client => {
  const { id, request } = post
  const client: Client = { left: request.signal.aborted, call: undefined, callStays: false }
  gateway.open.set(id, client)
  request.signal.addEventListener('abort', () => leave(client), { once: true })
  post.admitted = true
  arrived(gateway, post)
  return client
}

/** Whether a request for that model is going to be said in the words of another wire. */
const translates = ({ catalogue, providers }: Gateway, wire: Wire, name: string): boolean => {
  const provider = providers.get(catalogue.resolve(name)?.provider ?? '')
  return provider !== undefined && wireOf(provider, wire) !== wire
}

/** Refused on the way to a provider, for what its wire cannot say, a request has consumed nothing. */
export const reachedProvider = ({ attempts }: Pick<ClientRequest, 'attempts'>): boolean =>
  attempts.some((attempt) => attempt.providerStatus !== undefined)
