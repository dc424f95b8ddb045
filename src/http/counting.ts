// The POST endpoints that count the tokens of a prompt. Admitted like requests for an answer, but nothing is reserved or
// billed: vendors do not bill counts either.

import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Elysia } from 'elysia'
import type { Gateway } from '../gateway.ts'
import type { ChatWire } from '../ir/wire.ts'
import { answerHeaders } from '../relay/answer-headers.ts'
import { type CountingWire, countingWire, countPrompt } from '../relay/count.ts'
import type { ClientRequest, CountSummary } from '../relay/exchange.ts'
import { CODECS } from '../wire/index.ts'
import type { Check } from './admit.ts'
import { answerPost, enter, giveBack, openPost, type Post, reachedProvider } from './client-post.ts'
import { toGatewayError } from './respond.ts'

/** `wire`: one with token counting. */
type CountingEndpoint = { wire: ChatWire; paths: readonly string[] }

export const counting = (gateway: Gateway, { wire, paths }: CountingEndpoint) => {
  const clientWire = countingWire(wire)
  if (clientWire === undefined) throw new Error(`the ${wire} wire does not count`)
  // Compiled when first needed, to keep the start fast.
  let check: Check | undefined
  const app = new Elysia({ name: `counting:${wire}` })
  const answer = async (post: Post): Promise<Response> => {
    check ??= TypeCompiler.Compile(clientWire.counting.requestSchema)
    return count(gateway, post, await begin(gateway, post, check), clientWire)
  }
  for (const path of paths)
    app.post(path, ({ request }) => answerPost(gateway, { asked: wire, reserves: false }, request, answer), {
      parse: 'none',
    })
  return app
}

const begin = async (gateway: Gateway, post: Post, check: Check): Promise<ClientRequest> => {
  const { wire, request, id, key, ticket, address } = post
  const opened = await openPost(gateway, post, check)
  await gateway.ledger.requireLeft(key)
  const client = enter(gateway, post)
  return {
    ...opened,
    id,
    key,
    wire,
    codec: CODECS[wire],
    background: false,
    headers: request.headers,
    address,
    begunAt: performance.now(),
    client,
    limitHeaders: ticket.headers(wire),
    attempts: [],
    dropped: [],
  }
}

const count = async (
  gateway: Gateway,
  post: Post,
  request: ClientRequest,
  clientWire: CountingWire,
): Promise<Response> => {
  const end = (how: Omit<CountSummary, 'totalMs'>): void => {
    const summary = { ...how, totalMs: Math.round(performance.now() - request.begunAt) }
    gateway.open.delete(request.id)
    post.ticket.release()
    gateway.log.counted(request, summary)
    gateway.metrics?.counted(request, summary)
  }
  try {
    const { text, estimated } = await countPrompt(gateway, request, clientWire)
    end({ status: 200, errorCode: undefined, estimated })
    const headers = answerHeaders(request, 'application/json')
    if (estimated) headers['x-gateway-estimated'] = 'true'
    return new Response(text, { headers })
  } catch (thrown) {
    const { status, code } = toGatewayError(thrown)
    if (status < 500 && !reachedProvider(request)) giveBack(post, status)
    end({ ...(request.client.gone ? CLIENT_GONE : { status, errorCode: code }), estimated: false })
    throw thrown
  }
}

const CLIENT_GONE = { status: 499, errorCode: undefined }
