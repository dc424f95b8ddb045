// Answers made in the background, for the clients that asked for them: read, streamed from any event on, cancelled and
// deleted. The provider stores them; the gateway knows which key may have which. Those that the gateway keeps: kept-answers.ts.

import { Elysia } from 'elysia'
import type { Gateway } from '../gateway.ts'
import type { BackgroundAnswer } from '../ledger/background.ts'
import { notRecorded } from '../ledger/create.ts'
import { splice } from '../lib/json-splice.ts'
import { answerEndpoint } from '../provider/endpoint.ts'
import { answerHeaders, type Heading, streamHeaders } from '../relay/answer-headers.ts'
import {
  answerNotFound,
  answerNotOver,
  cancelAnswer,
  noteLength,
  orNotFound,
  type ProviderAnswer,
  refreshAnswer,
  requestJson,
  targetOf,
} from '../relay/background/answers.ts'
import { pollAnswer } from '../relay/background/polling.ts'
import { toBody } from '../relay/body.ts'
import { type Caller, call } from '../relay/call.ts'
import { type Client, disconnect, secondsOf } from '../relay/exchange.ts'
import { readToFirstOutput } from '../relay/stream-answer.ts'
import type { Target } from '../relay/target.ts'
import { CODECS } from '../wire/index.ts'
import { clientEdits } from '../wire/responses/background.ts'
import { clientAddress } from './address.ts'
import { authenticated } from './authenticated.ts'
import { pathsOf } from './endpoints.ts'
import { fallback } from './fallback.ts'
import { type Asked, keptAnswer } from './kept-answers.ts'
import { errorResponse, reported, requestId } from './respond.ts'

/** A request about one answer. */
type AnswerContext = {
  request: Request
  heading: Heading
  answer: BackgroundAnswer
  target: Target
  caller: Caller
  /** The part of the query that is passed on, with its `?`; '' where there is none. */
  query: string
}

export const background = (gateway: Gateway) => {
  const app = new Elysia({ name: 'background' })
  const serve =
    (what: Asked, respond: (context: AnswerContext) => Promise<Response>) =>
    ({ request, params }: { request: Request; params: { id: string | null } }) =>
      // Null: an id that is wrongly encoded, which no answer has.
      handle(gateway, request, { id: params.id ?? '', what }, respond)
  for (const path of pathsOf('/v1/responses')) {
    app
      .get(
        `${path}/:id`,
        serve('read', (context) => (isStream(context) ? stream(gateway, context) : read(gateway, context))),
      )
      .delete(
        `${path}/:id`,
        serve('remove', (context) => remove(gateway, context)),
        { parse: 'none' },
      )
      .post(
        `${path}/:id/cancel`,
        serve('cancel', (context) => cancel(gateway, context)),
        { parse: 'none' },
      )
      .get(
        `${path}/:id/input_items`,
        serve('input', (context) => inputItems(gateway, context)),
      )
    // The wire's own endpoints, and no answers' ids.
    for (const own of [`${path}/input_tokens`, `${path}/compact`])
      app.get(own, ({ request }) => fallback(request)).delete(own, ({ request }) => fallback(request))
  }
  return app
}

/** The query parameters that are passed on to the provider. */
const PASSED_ON = ['include', 'include[]', 'stream', 'starting_after', 'include_obfuscation', 'after', 'limit', 'order']

const handle = async (
  gateway: Gateway,
  request: Request,
  { id, what }: { id: string; what: Asked },
  respond: (context: AnswerContext) => Promise<Response>,
): Promise<Response> => {
  const heading: Heading = { id: requestId(), wire: 'responses', limitHeaders: {}, dropped: [] }
  try {
    const key = await authenticated(gateway, request)
    const answer = await gateway.store.background.find(key.id, id)
    const kept = answer === undefined ? await keptAnswer(gateway, request, { keyId: key.id, id, what }) : undefined
    if (kept !== undefined) return json(heading, kept)
    const target = answer && targetOf(gateway, answer)
    if (answer === undefined || target === undefined) throw answerNotFound(id)
    const given = [...new URL(request.url).searchParams].filter(([name]) => PASSED_ON.includes(name))
    const query = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
    const caller = { headers: request.headers, begunAt: performance.now() }
    return await respond({ request, heading, answer, target, caller, query })
  } catch (thrown) {
    const error = reported(gateway.log, thrown, { request: heading.id })
    const { pathname: path } = new URL(request.url)
    const address = clientAddress(gateway, request)
    gateway.log.refused({ request: heading.id, address, path, status: error.status, code: error.code })
    return errorResponse(error, heading.id, 'responses')
  }
}

const json = (heading: Heading, text: string): Response =>
  new Response(text, { headers: { ...answerHeaders(heading, 'application/json'), 'cache-control': 'no-store' } })

const answerResponse = ({ heading, target }: AnswerContext, { text, body }: ProviderAnswer): Response =>
  json(heading, splice(text, clientEdits(body, target.model.id), body))

/** Acts when the client disconnects, and at once where it has: that is not told again. */
const onGone = ({ signal }: Request, act: () => void): void => {
  if (signal.aborted) act()
  else signal.addEventListener('abort', act, { once: true })
}

/** Aborts when the client disconnects. */
const abortWith = (request: Request): AbortController => {
  const abort = new AbortController()
  onGone(request, () => abort.abort())
  return abort
}

const read = async (gateway: Gateway, context: AnswerContext): Promise<Response> => {
  const { request, query } = context
  return answerResponse(context, await refreshAnswer(gateway, context, 'read', { query, abort: abortWith(request) }))
}

const cancel = async (gateway: Gateway, context: AnswerContext): Promise<Response> =>
  answerResponse(context, await refreshAnswer(gateway, context, 'cancel'))

const remove = async (gateway: Gateway, context: AnswerContext): Promise<Response> => {
  const { heading, answer, target } = context
  if (gateway.open.has(answer.exchangeId)) {
    // The client's own stream is still open: it settles the exchange once the provider has ended it.
    await refreshAnswer(gateway, context, 'cancel').catch(() => undefined)
    throw answerNotOver()
  }
  await cancelAnswer(gateway, context)
  // Once it is deleted, nobody can say what it has used: its settlement must be durable first.
  try {
    await gateway.ledger.flush()
  } catch (cause) {
    throw notRecorded(cause)
  }
  const url = answerEndpoint(target.account, answer.id)
  const { text } = await requestJson(gateway, context, { method: 'DELETE', url })
  try {
    await gateway.store.background.forget(answer)
  } catch {
    // The answer is gone all the same; its record is pruned with its exchange.
  }
  return json(heading, text)
}

const inputItems = async (gateway: Gateway, context: AnswerContext): Promise<Response> => {
  const { request, heading, answer, target, query } = context
  const url = answerEndpoint(target.account, answer.id, '/input_items', query)
  const { text } = await requestJson(gateway, context, { method: 'GET', url }, abortWith(request))
  return json(heading, text)
}

const isStream = ({ request }: AnswerContext): boolean => new URL(request.url).searchParams.get('stream') === 'true'

const stream = async (gateway: Gateway, context: AnswerContext): Promise<Response> => {
  const { request, heading, answer, target, caller, query } = context
  const codec = CODECS.responses
  const abort = new AbortController()
  const client: Client = { gone: false, call: abort, callOutlivesClient: false }
  onGone(request, () => disconnect(client))
  const newTap = () => codec.tap({ model: target.model.id, includeUsage: false, now: secondsOf(gateway.clock) })
  const tap = newTap()
  const end = (): void => {
    gateway.open.delete(heading.id)
    gateway.listener?.streamed(request)
  }
  gateway.open.set(heading.id, client)
  const url = answerEndpoint(target.account, answer.id, '', query)
  const opening = call({ relay: gateway, request: caller, target, codec, abort }, { method: 'GET', url }, (response) =>
    readToFirstOutput(response, { relay: gateway, target, codec, abort }, tap),
  )
  const opened = await orNotFound(answer.id, opening).catch((error) => {
    // A stream that begins with an error may stay open for long, and nobody reads it.
    abort.abort()
    end()
    throw error
  })
  const body = toBody({
    codec,
    requestId: heading.id,
    keepAliveMs: gateway.keepAliveMs,
    begunAt: caller.begunAt,
    answer: opened,
    newTap,
    client,
    async onEnd() {
      try {
        if (tap.state === 'done') await noteLength(gateway, context, tap.usage)
      } finally {
        end()
        if (tap.state !== 'open') void pollAnswer(gateway, answer)
      }
    },
    onProgress: () => undefined,
  })
  return new Response(body, { headers: streamHeaders(heading) })
}
