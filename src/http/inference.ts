// The POST endpoints of the wires: authenticated before the body is read, admitted in the contract's order, relayed.

import { Elysia } from 'elysia'
import { GatewayError } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import { totalTokens } from '../ir/usage.ts'
import type { Wire } from '../ir/wire.ts'
import type { Key } from '../keys/key.ts'
import type { AttemptNote } from '../ledger/ledger.ts'
import type { Ticket } from '../ledger/limits.ts'
import { splice } from '../lib/json-splice.ts'
import { openBody, openText } from '../relay/client-body.ts'
import { type Client, type Exchange, leave } from '../relay/exchange.ts'
import { relayExchange } from '../relay/relay.ts'
import { wireOf } from '../relay/route.ts'
import { CODECS } from '../wire/index.ts'
import { admit } from './admit.ts'
import { readBody } from './read-body.ts'
import { errorResponse, requestId, toGatewayError } from './respond.ts'

export type Endpoint = { wire: Wire; paths: readonly string[] }

export const inference = (gateway: Gateway, { wire, paths }: Endpoint) => {
  const app = new Elysia({ name: `inference:${wire}` })
  for (const path of paths) app.post(path, ({ request }) => infer(gateway, wire, request), { parse: 'none' })
  return app
}

const infer = async (gateway: Gateway, wire: Wire, request: Request): Promise<Response> => {
  const id = requestId()
  let key: Key | undefined
  let ticket: Ticket | undefined
  let exchange: Exchange | undefined
  try {
    key = gateway.store.keys.authenticate(request.headers)
    shed(gateway)
    ticket = gateway.limits.enter(key)
    exchange = await begin(gateway, wire, request, id, key, ticket)
    return await relayExchange(gateway, exchange)
  } catch (thrown) {
    const error = toGatewayError(thrown)
    if (error.code === 'internal_error')
      gateway.log.error('unexpected failure', { request: id, cause: String(error.cause) })
    // What was refused before it became an exchange consumes nothing; an exchange has settled and left by itself.
    if (exchange === undefined) {
      ticket?.refund()
      gateway.metrics?.refused(wire, error.status, error.code)
      gateway.log.refused({
        id,
        path: new URL(request.url).pathname,
        status: error.status,
        code: error.code,
        keyId: key?.id,
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

const begin = async (
  gateway: Gateway,
  wire: Wire,
  request: Request,
  id: string,
  key: Key,
  ticket: Ticket,
): Promise<Exchange> => {
  gateway.arriving++
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = await readBody(request, gateway.config.bodyLimitBytes, gateway.config.bodyTimeoutMs)
  } finally {
    gateway.arriving--
  }
  const asSent = openBody(bytes, (name) => translates(gateway, wire, name))
  const { model, stream } = admit(wire, asSent, key, gateway.catalogue, gateway.config.hideForbiddenModels)
  const edits = wire === 'responses' ? gateway.recall.edits(key.id, () => asSent.whole().body) : []
  const body = edits.length === 0 ? asSent : openText(splice(asSent.whole().text, edits))
  const { outline, inputEstimate } = body
  const codec = CODECS[wire]
  const reservation = await gateway.ledger.reserve({
    exchangeId: id,
    key,
    model: model.id,
    wire,
    stream,
    inputEstimate,
    outputCap: codec.outputCap(outline),
    maxOutput: wire === 'images' ? model.tokensPerImage : model.maxOutput,
    answers: (wire === 'images' || wire === 'chat-completions') && typeof outline.n === 'number' ? outline.n : 1,
    fixed: wire === 'images',
  })
  const client: Client = { left: request.signal.aborted, call: undefined }
  gateway.open.set(id, client)
  request.signal.addEventListener('abort', () => leave(client), { once: true })
  const exchange: Exchange = {
    id,
    key,
    wire,
    codec,
    body,
    asSent,
    headers: request.headers,
    model,
    stream,
    startedAt: reservation.startedAt,
    begunAt: performance.now(),
    reservation,
    client,
    attempts: [],
    dropped: [],
    headersOut: ticket.headers(wire),
    release: ticket.leave,
    onSettled: (summary) => {
      gateway.open.delete(id)
      if (stream) gateway.listener?.streamed(request)
      if (summary.outcome === 'refused' && !exchange.attempts.some(reachedProvider)) ticket.refund()
      ticket.tokens(totalTokens(summary.tokens))
      ticket.leave()
      gateway.log.exchange(exchange, summary)
      gateway.metrics?.settled(exchange, summary)
      gateway.live.publish(exchange, summary)
    },
  }
  return exchange
}

/** Whether a request for that model is going to be said in the words of another wire. */
const translates = ({ catalogue, providers }: Gateway, wire: Wire, name: string): boolean => {
  const provider = providers.get(catalogue.resolve(name)?.provider ?? '')
  return provider !== undefined && wireOf(provider, wire) !== wire
}

/** Refused on the way to a provider, for what its wire cannot say, a request has consumed nothing. */
const reachedProvider = (attempt: AttemptNote): boolean => attempt.providerStatus !== undefined
