// The POST endpoints of the wires: an admitted request becomes an exchange, with a reservation, and is relayed.

import { Elysia } from 'elysia'
import type { Model } from '../catalogue/model.ts'
import { type Gateway, reportEnded } from '../gateway.ts'
import type { JsonObject } from '../ir/json.ts'
import { totalTokens } from '../ir/usage.ts'
import { isChatWire, type Operation } from '../ir/wire.ts'
import { picturesAsked } from '../relay/adapt/pictures.ts'
import { type ClientBody, withEstimate } from '../relay/client-body.ts'
import type { Exchange } from '../relay/exchange.ts'
import { relayExchange } from '../relay/relay.ts'
import { leastOutput, mostPerImage } from '../relay/route.ts'
import type { Expected, PassCodec } from '../wire/codec.ts'
import { CODECS } from '../wire/index.ts'
import { checkOf } from './admit.ts'
import { answerPost, enter, giveBack, openPost, type Post, reachedProvider, requireStill } from './client-post.ts'
import { reported } from './respond.ts'

type Endpoint = { asked: Operation; paths: readonly string[] }

export const inference = (gateway: Gateway, { asked, paths }: Endpoint) => {
  const app = new Elysia({ name: `inference:${asked}` })
  const answer = answering(gateway, asked)
  for (const path of paths) app.post(path, ({ request }) => answer(request), { parse: 'none' })
  return app
}

/** Answers requests for that, from the check of their key to the last byte. */
export const answering = (gateway: Gateway, asked: Operation): ((request: Request) => Promise<Response>) => {
  const answer = async (post: Post): Promise<Response> => relayExchange(gateway, await begin(gateway, post))
  return (request) => answerPost(gateway, { asked, reserves: true }, request, answer)
}

/** What of a request may make its tokens dearer; undefined: nothing. */
const classesAsked = ({ service_tier: tier, speed, inference_geo: geo }: JsonObject): string[] | undefined => {
  if (tier === undefined && speed === undefined && geo === undefined) return undefined
  return [tier, speed, geo].filter((name) => typeof name === 'string')
}

/** In a scope of its own: what `begin` leaves behind lives as long as the exchange, and would hold the body. */
const leastInputOf =
  (body: ClientBody, least = 0) =>
  (): number =>
    Math.max(least, body.leastInput)

const recheckOf = (gateway: Gateway, post: Post) => () => requireStill(gateway, post)

const begin = async (gateway: Gateway, post: Post): Promise<Exchange> => {
  const { asked, wire, request, id, key, ticket, address } = post
  const { bodyWire, asSent, body: sent, model, within } = await openPost(gateway, post, checkOf(asked))
  const codec = CODECS[asked]
  const { body, expected } = expecting(codec, sent, model)
  const { outline, inputEstimate } = body
  const stream = codec.isStream?.(outline) ?? outline.stream === true
  const begunAt = performance.now()
  const reservation = await gateway.ledger.reserve({
    exchangeId: id,
    key,
    model: model.id,
    fallbacks: gateway.fallbacks[model.id],
    classes: classesAsked(outline),
    wire,
    stream,
    address,
    tag: post.tag,
    inputEstimate,
    leastInput: leastInputOf(body, expected?.least),
    outputCap: CODECS[bodyWire].outputCap(outline),
    maxOutput: expected?.output ?? (wire === 'images' ? mostPerImage(gateway, { model, key, body }) : model.maxOutput),
    answers: (wire === 'images' || wire === 'chat-completions') && typeof outline.n === 'number' ? outline.n : 1,
    ...(wire === 'images' ? { pictures: picturesAsked(outline) } : {}),
    leastOutput: isChatWire(wire) ? leastOutput(gateway, { model, key, bodyWire }) : 0,
    fixed: !isChatWire(asked),
    recheck: recheckOf(gateway, post),
  })
  const client = enter(gateway, post)
  let running = true
  const end = (): void => {
    if (!running) return
    running = false
    gateway.open.delete(id)
    ticket.release()
  }
  const streamed = (): void => gateway.listener?.streamed(request)
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
    address,
    tag: reservation.tag,
    model,
    stream,
    background: asked === 'responses' && outline.background === true,
    startedAt: reservation.startedAt,
    begunAt,
    reservation,
    client,
    attempts: [],
    trace: gateway.otlp?.begin(request.headers, key),
    dropped: [],
    limitHeaders: ticket.headers(wire),
    release: ticket.release,
    onDetached() {
      end()
      if (stream) streamed()
    },
    onBroken: (error) => void reported(gateway.log, error, { request: id }),
    onSettled: (exchange, summary, recorded) => {
      end()
      // Its end leaves then: until it has, the connection is not idle.
      if (stream) void recorded.then(streamed, streamed)
      if (summary.outcome === 'refused' && !reachedProvider(exchange)) giveBack(post, summary.status)
      ticket.addTokens(totalTokens(summary.tokens))
      reportEnded(gateway, exchange, summary)
    },
  }
}

/** The body, its estimate that of its wire where that has one of its own. */
const expecting = (
  codec: PassCodec,
  body: ClientBody,
  { tokensPer: per }: Model,
): { body: ClientBody; expected: Expected | undefined } => {
  const expected = codec.expects?.(body.outline, body.inputEstimate, { per, whole: () => body.whole().body })
  return { body: expected === undefined ? body : withEstimate(body, expected.input), expected }
}
