// The POST endpoints of the wires: an admitted request becomes an exchange, with a reservation, and is relayed.

import { Elysia } from 'elysia'
import { type Gateway, reportEnded } from '../gateway.ts'
import { totalTokens } from '../ir/usage.ts'
import type { Wire } from '../ir/wire.ts'
import type { ClientBody } from '../relay/client-body.ts'
import type { Exchange } from '../relay/exchange.ts'
import { relayExchange } from '../relay/relay.ts'
import { leastOutput, mostPerImage } from '../relay/route.ts'
import { CODECS } from '../wire/index.ts'
import { REQUESTS } from './admit.ts'
import { answerPost, enter, giveBack, openPost, type Post, reachedProvider } from './client-post.ts'
import { reported } from './respond.ts'

type Endpoint = { wire: Wire; paths: readonly string[] }

export const inference = (gateway: Gateway, { wire, paths }: Endpoint) => {
  const app = new Elysia({ name: `inference:${wire}` })
  const answer = async (post: Post): Promise<Response> => relayExchange(gateway, await begin(gateway, post))
  for (const path of paths)
    app.post(path, ({ request }) => answerPost(gateway, wire, request, answer), { parse: 'none' })
  return app
}

/** In a scope of its own: what `begin` leaves behind lives as long as the exchange, and would hold the body. */
const leastInputOf = (body: ClientBody) => (): number => body.leastInput

const begin = async (gateway: Gateway, post: Post): Promise<Exchange> => {
  const { wire, request, id, key, ticket } = post
  const { bodyWire, asSent, body, model, within } = await openPost(gateway, post, REQUESTS[wire])
  const { outline, inputEstimate } = body
  const stream = outline.stream === true
  const codec = CODECS[wire]
  const begunAt = performance.now()
  const reservation = await gateway.ledger.reserve({
    exchangeId: id,
    key,
    model: model.id,
    wire,
    stream,
    inputEstimate,
    leastInput: leastInputOf(body),
    outputCap: CODECS[bodyWire].outputCap(outline),
    maxOutput: wire === 'images' ? mostPerImage(gateway, { model, key, body }) : model.maxOutput,
    answers: (wire === 'images' || wire === 'chat-completions') && typeof outline.n === 'number' ? outline.n : 1,
    leastOutput: wire === 'images' ? 0 : leastOutput(gateway, { model, key, bodyWire }),
    fixed: wire === 'images',
  })
  const client = enter(gateway, post)
  let running = true
  const end = (): void => {
    if (!running) return
    running = false
    gateway.open.delete(id)
    if (stream) gateway.listener?.streamed(request)
    ticket.release()
  }
  return {
    id,
    key,
    wire,
    bodyWire,
    codec,
    body,
    asSent,
    within,
    headers: request.headers,
    model,
    stream,
    background: wire === 'responses' && outline.background === true,
    startedAt: reservation.startedAt,
    begunAt,
    reservation,
    client,
    attempts: [],
    dropped: [],
    limitHeaders: ticket.headers(wire),
    release: ticket.release,
    onDetached: end,
    onBroken: (error) => void reported(gateway.log, error, { request: id }),
    onSettled: (exchange, summary) => {
      end()
      if (summary.outcome === 'refused' && !reachedProvider(exchange)) giveBack(post, summary.status)
      ticket.addTokens(totalTokens(summary.tokens))
      reportEnded(gateway, exchange, summary)
    },
  }
}
