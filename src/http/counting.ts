// The POST endpoints that count a prompt. Admitted as a request for an answer is, and nothing is reserved or billed: the
// vendors bill nothing for it either.

import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Elysia } from 'elysia'
import type { Gateway } from '../gateway.ts'
import type { ChatWire } from '../ir/wire.ts'
import { leftOf } from '../ledger/admission.ts'
import { answerHeaders } from '../relay/answer-headers.ts'
import { type CountingWire, countingWire, countPrompt } from '../relay/count.ts'
import type { ClientRequest, CountSummary } from '../relay/exchange.ts'
import { CODECS } from '../wire/index.ts'
import type { Check } from './admit.ts'
import { answerPost, enter, openPost, type Post, reachedProvider } from './client-post.ts'
import { toGatewayError } from './respond.ts'

/** `wire`: one that counts. */
export type CountingEndpoint = { wire: ChatWire; paths: readonly string[] }

export const counting = (gateway: Gateway, { wire, paths }: CountingEndpoint) => {
  const own = countingWire(wire)
  if (own === undefined) throw new Error(`the ${wire} wire does not count`)
  // Made when first needed: the start does not wait for it.
  let check: Check | undefined
  const app = new Elysia({ name: `counting:${wire}` })
  const answer = async (post: Post): Promise<Response> => {
    check ??= TypeCompiler.Compile(own.counting.requestSchema)
    return count(gateway, post, await begin(gateway, post, check), own)
  }
  for (const path of paths)
    app.post(path, ({ request }) => answerPost(gateway, wire, request, answer), { parse: 'none' })
  return app
}

const begin = async (gateway: Gateway, post: Post, check: Check): Promise<ClientRequest> => {
  const { wire, request, id, key, ticket } = post
  const opened = await openPost(gateway, post, check)
  leftOf(key)
  const client = enter(gateway, post)
  return {
    ...opened,
    id,
    key,
    wire,
    codec: CODECS[wire],
    background: false,
    headers: request.headers,
    begunAt: performance.now(),
    client,
    headersOut: ticket.headers(wire),
    attempts: [],
    dropped: [],
  }
}

const count = async (gateway: Gateway, post: Post, asked: ClientRequest, own: CountingWire): Promise<Response> => {
  const ended = (how: Omit<CountSummary, 'totalMs'>): void => {
    const summary = { ...how, totalMs: Math.round(performance.now() - asked.begunAt) }
    gateway.open.delete(asked.id)
    post.ticket.leave()
    gateway.log.counted(asked, summary)
    gateway.metrics?.counted(asked, summary)
  }
  try {
    const { text, estimated } = await countPrompt(gateway, asked, own)
    ended({ status: 200, errorCode: undefined, estimated })
    const headers = answerHeaders(asked, 'application/json')
    if (estimated) headers['x-gateway-estimated'] = 'true'
    return new Response(text, { headers })
  } catch (thrown) {
    const { status, code } = toGatewayError(thrown)
    if (status < 500 && !reachedProvider(asked)) post.ticket.refund()
    ended({ ...(asked.client.left ? LEFT : { status, errorCode: code }), estimated: false })
    throw thrown
  }
}

const LEFT = { status: 499, errorCode: undefined }
