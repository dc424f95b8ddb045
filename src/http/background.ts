// Answers made in the background, for the clients that asked for them: how they stand, their stream from any event on,
// their end and their removal. They are their provider's to keep; the gateway knows whose they are.

import { Elysia } from 'elysia'
import type { Gateway } from '../gateway.ts'
import type { BackgroundAnswer } from '../ledger/background.ts'
import { notRecorded } from '../ledger/create.ts'
import { splice } from '../lib/json-splice.ts'
import { answerEndpoint } from '../provider/endpoint.ts'
import { answerHeaders, type Heading, streamHeaders } from '../relay/answer-headers.ts'
import { firstWords } from '../relay/attempt.ts'
import {
  ask,
  askFor,
  endAnswer,
  known,
  lookAfter,
  noLongerThere,
  notOver,
  type Told,
  whereIs,
} from '../relay/background.ts'
import { toBody } from '../relay/body.ts'
import { type Caller, call } from '../relay/call.ts'
import { type Client, leave } from '../relay/exchange.ts'
import type { Target } from '../relay/route.ts'
import { CODECS } from '../wire/index.ts'
import { clientEdits } from '../wire/responses/background.ts'
import { pathsOf } from './endpoints.ts'
import { fallback } from './fallback.ts'
import { errorResponse, reported, requestId } from './respond.ts'

type Asked = {
  request: Request
  heading: Heading
  answer: BackgroundAnswer
  target: Target
  caller: Caller
  /** What is passed on of the query. */
  query: string
}

export const background = (gateway: Gateway) => {
  const app = new Elysia({ name: 'background' })
  const serve =
    (respond: (asked: Asked) => Promise<Response>) =>
    ({ request, params }: { request: Request; params: { id: string | null } }) =>
      // Null: wrongly encoded, and so no answer's.
      find(gateway, request, params.id ?? '', respond)
  for (const path of pathsOf('/v1/responses')) {
    app
      .get(
        `${path}/:id`,
        serve((asked) => (isStream(asked) ? stream(gateway, asked) : read(gateway, asked))),
      )
      .delete(
        `${path}/:id`,
        serve((asked) => remove(gateway, asked)),
        { parse: 'none' },
      )
      .post(
        `${path}/:id/cancel`,
        serve((asked) => cancel(gateway, asked)),
        { parse: 'none' },
      )
      .get(
        `${path}/:id/input_items`,
        serve((asked) => inputItems(gateway, asked)),
      )
      // An endpoint of its own, and no answer's id.
      .get(`${path}/input_tokens`, ({ request }) => fallback(request))
      .delete(`${path}/input_tokens`, ({ request }) => fallback(request))
  }
  return app
}

/** The members of a query that its provider is asked with. */
const PASSED = ['include', 'include[]', 'stream', 'starting_after', 'include_obfuscation', 'after', 'limit', 'order']

const find = async (
  gateway: Gateway,
  request: Request,
  id: string,
  respond: (asked: Asked) => Promise<Response>,
): Promise<Response> => {
  const heading: Heading = { id: requestId(), wire: 'responses', headersOut: {}, dropped: [] }
  try {
    const key = gateway.store.keys.authenticate(request.headers)
    const answer = gateway.store.background.find(key.id, id)
    const target = answer && whereIs(gateway, answer)
    if (answer === undefined || target === undefined) throw noLongerThere(id)
    const given = [...new URL(request.url).searchParams].filter(([name]) => PASSED.includes(name))
    const query = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
    const caller = { headers: request.headers, begunAt: performance.now() }
    return await respond({ request, heading, answer, target, caller, query })
  } catch (thrown) {
    const error = reported(gateway.log, thrown, { request: heading.id })
    const { pathname: path } = new URL(request.url)
    gateway.log.refused({ request: heading.id, path, status: error.status, code: error.code })
    return errorResponse(error, heading.id, 'responses')
  }
}

const json = (heading: Heading, text: string): Response =>
  new Response(text, { headers: { ...answerHeaders(heading, 'application/json'), 'cache-control': 'no-store' } })

const asItStands = ({ heading, target }: Asked, { text, body }: Told): Response =>
  json(heading, splice(text, clientEdits(body, target.model.id), body))

/** Ends what is asked for a client that leaves: those that poll come again. */
const whileThere = ({ signal }: Request): AbortController => {
  const abort = new AbortController()
  signal.addEventListener('abort', () => abort.abort(), { once: true })
  return abort
}

const read = async (gateway: Gateway, asked: Asked): Promise<Response> => {
  const { request, answer, target, caller, query } = asked
  return asItStands(asked, await askFor(gateway, target, answer, caller, 'read', { query, abort: whileThere(request) }))
}

const cancel = async (gateway: Gateway, asked: Asked): Promise<Response> =>
  asItStands(asked, await askFor(gateway, asked.target, asked.answer, asked.caller, 'cancel'))

const remove = async (gateway: Gateway, { heading, answer, target, caller }: Asked): Promise<Response> => {
  if (gateway.open.has(answer.exchangeId)) {
    // Its client's own stream settles it, once the provider has ended that.
    await askFor(gateway, target, answer, caller, 'cancel').catch(() => undefined)
    throw notOver()
  }
  await endAnswer(gateway, target, answer, caller)
  // Once it is gone nobody can say any more what it has used.
  try {
    gateway.ledger.flush()
  } catch (cause) {
    throw notRecorded(cause)
  }
  const url = answerEndpoint(target.account, answer.id)
  const { text } = await ask(gateway, target, answer, caller, { method: 'DELETE', url })
  gateway.store.background.forget(answer)
  return json(heading, text)
}

const inputItems = async (gateway: Gateway, asked: Asked): Promise<Response> => {
  const { request, heading, answer, target, caller, query } = asked
  const url = answerEndpoint(target.account, answer.id, '/input_items', query)
  const { text } = await ask(gateway, target, answer, caller, { method: 'GET', url }, whileThere(request))
  return json(heading, text)
}

const isStream = ({ request }: Asked): boolean => new URL(request.url).searchParams.get('stream') === 'true'

const stream = async (gateway: Gateway, asked: Asked): Promise<Response> => {
  const { request, heading, answer, target, caller, query } = asked
  const codec = CODECS.responses
  const abort = new AbortController()
  const client: Client = { left: request.signal.aborted, call: abort, callStays: false }
  request.signal.addEventListener('abort', () => leave(client), { once: true })
  const newTap = () =>
    codec.tap({ model: target.model.id, includeUsage: false, now: Math.floor(gateway.clock.now() / 1000) })
  const tap = newTap()
  const over = (): void => {
    gateway.open.delete(heading.id)
    gateway.listener?.streamed(request)
  }
  gateway.open.set(heading.id, client)
  const url = answerEndpoint(target.account, answer.id, '', query)
  const opening = call({ relay: gateway, request: caller, target, codec, abort }, { method: 'GET', url }, (response) =>
    firstWords(response, { target, codec, abort }, tap),
  )
  const opened = await known(answer.id, opening).catch((error) => {
    over()
    throw error
  })
  const body = toBody({
    codec,
    requestId: heading.id,
    keepAliveMs: gateway.keepAliveMs,
    begunAt: caller.begunAt,
    answer: opened,
    orphan: newTap,
    client,
    onEnd: () => {
      over()
      if (tap.state !== 'open') void lookAfter(gateway, answer)
    },
    onProgress: () => undefined,
  })
  return new Response(body, { headers: streamHeaders(heading) })
}
