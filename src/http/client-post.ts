// A client's POST: known before its body is read, admitted in the contract's order, and refused in its wire's words.

import { GatewayError } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import type { Wire } from '../ir/wire.ts'
import type { Key } from '../keys/key.ts'
import type { Ticket } from '../ledger/limits.ts'
import { splice } from '../lib/json-splice.ts'
import { openBody, openText } from '../relay/client-body.ts'
import { type Client, type ClientRequest, leave } from '../relay/exchange.ts'
import { wireOf } from '../relay/route.ts'
import { admit, type Check } from './admit.ts'
import { readBody } from './read-body.ts'
import { errorResponse, reported, requestId } from './respond.ts'

/** A request whose key is known and within its limits. */
export type Post = {
  readonly wire: Wire
  readonly request: Request
  /** The request id the client sees. */
  readonly id: string
  readonly key: Key
  readonly ticket: Ticket
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
    shed(gateway)
    post = { wire, request, id, key, ticket: gateway.limits.enter(key), admitted: false }
    // Until it is admitted, so that those who come at once are counted one by one.
    gateway.arriving++
    return await answer(post)
  } catch (thrown) {
    const error = reported(gateway.log, thrown, { request: id })
    if (post?.admitted !== true) {
      if (post !== undefined) gateway.arriving--
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

/** Past what the machine can hold, or on its way out, the gateway says so at once. */
const shed = (gateway: Gateway): void => {
  const { maxOpenExchanges, maxMemoryBytes } = gateway.config
  const inside = gateway.open.size + gateway.arriving
  if (
    gateway.draining ||
    (maxOpenExchanges > 0 && inside >= maxOpenExchanges) ||
    (maxMemoryBytes > 0 && gateway.memory.past(maxMemoryBytes, inside))
  ) {
    throw new GatewayError('service_unavailable', 'The gateway is busy. Try again shortly.', { retryAfterMs: 2_000 })
  }
}

/** Reads and admits the body, and resolves what it refers to. `check`: what a body must be. */
export const openPost = async (
  gateway: Gateway,
  { wire, request, key }: Post,
  check: Check,
): Promise<Pick<ClientRequest, 'asSent' | 'body' | 'model'>> => {
  const bytes = await readBody(request, gateway.config.bodyLimitBytes, gateway.config.bodyTimeoutMs)
  const asSent = openBody(bytes, (name) => translates(gateway, wire, name))
  const model = admit(wire, check, asSent, key, gateway.catalogue, gateway.config.hideForbiddenModels)
  const edits = wire === 'responses' ? gateway.recall.edits(key.id, () => asSent.whole().body) : []
  const body = edits.length === 0 ? asSent : openText(splice(asSent.whole().text, edits))
  return { asSent, body, model }
}

/** Admits a request: from here on it is in flight, and its client may leave it. */
export const enter = (gateway: Gateway, post: Post): Client => {
  const { id, request } = post
  const client: Client = { left: request.signal.aborted, call: undefined, callStays: false }
  gateway.open.set(id, client)
  request.signal.addEventListener('abort', () => leave(client), { once: true })
  post.admitted = true
  gateway.arriving--
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
