// An admitted exchange to its answer: the early start of slow streams, and the one settlement.

import { GatewayError } from '../errors.ts'
import type { JsonObject } from '../ir/json.ts'
import { totalTokens, type Usage, withPrompt } from '../ir/usage.ts'
import type { BackgroundAnswer } from '../ledger/background.ts'
import type { Outcome } from '../ledger/ledger.ts'
import { includeUsage } from '../wire/chat-completions/pass.ts'
import type { Tap } from '../wire/codec.ts'
import { standingOf } from '../wire/responses/background.ts'
import { answerHeaders, streamHeaders } from './answer-headers.ts'
import { type Answer, attempt, type JsonAnswer, type StreamAnswer } from './attempt.ts'
import { keepAnswer, watchAnswer } from './background.ts'
import { type StreamEnd, toBody } from './body.ts'
import { NO_BODY } from './client-body.ts'
import { estimateOutput } from './estimate.ts'
import type { Exchange, Relay } from './exchange.ts'
import { type Metered, meterAnswer, meterStream, meterTold, NOTHING } from './meter.ts'
import { rememberPlace, route } from './route.ts'
import { settle } from './settle.ts'
import { firstAnswer } from './tries.ts'

/**
 * Answers an exchange. Whatever happens, the reservation is settled once. Throws GatewayError for what is answered as an
 * HTTP error; a stream that has begun reports its failure within.
 */
export const relayExchange = async (relay: Relay, exchange: Exchange): Promise<Response> => {
  const running = runAttempts(relay, exchange)
  // The client may leave before anyone waits for this: its failure is settled then, and must not go unhandled.
  running.catch(() => undefined)
  if (!exchange.stream) return answerWhole(relay, exchange, running)
  const answer = await orEarly(running as Promise<StreamAnswer>, relay.earlyStartMs).catch((error) => {
    throw settleError(relay, exchange, error)
  })
  return answerStream(relay, exchange, answer ?? (running as Promise<StreamAnswer>))
}

const runAttempts = async (relay: Relay, exchange: Exchange): Promise<Answer> => {
  const answer = await firstAnswer(relay, exchange, route(relay, exchange), (target, abort) =>
    attempt(relay, exchange, target, abort),
  )
  const { target } = answer
  if (target.wire !== exchange.wire) return answer
  const id = answer.kind === 'json' ? answer.body.id : answer.tap.answerId
  rememberPlace(relay, exchange, target, id)
  if (exchange.background) exchange.kept = keepAnswer(relay, exchange, target, id)
  return answer
}

/** The answer, or undefined when it is late enough to begin the client's stream without it. */
const orEarly = async <T>(running: Promise<T>, earlyStartMs: number): Promise<T | undefined> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const early = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), earlyStartMs)
  })
  try {
    return await Promise.race([running, early])
  } finally {
    clearTimeout(timer)
  }
}

const answerWhole = async (relay: Relay, exchange: Exchange, running: Promise<Answer>): Promise<Response> => {
  let answer: JsonAnswer
  try {
    answer = (await running) as JsonAnswer
  } catch (error) {
    throw settleError(relay, exchange, error)
  }
  const { kept } = exchange
  if (kept !== undefined && standingOf(answer.body) === 'open') goOn(relay, exchange, kept, answer, sentOnly(exchange))
  else await settleWhole(relay, exchange, answer)
  return new Response(answer.text, { headers: answerHeaders(exchange, 'application/json') })
}

const settleWhole = async (relay: Relay, exchange: Exchange, answer: JsonAnswer): Promise<void> => {
  const { usage, rawUsage } = answer
  const metered =
    usage?.output === undefined
      ? await metering(meterAnswer(exchange.body.inputEstimate, answer.target.model, answer), answer)
      : meterTold(exchange.body.inputEstimate, usage, rawUsage)
  settle(relay, exchange, answer.target, metered, exchange.client.left ? 'aborted' : 'done', undefined)
}

/** Its client has what it gets for now; the exchange is settled when its answer has ended. `last`: where that is never told. */
const goOn = (
  relay: Relay,
  { request: _, ...exchange }: Exchange,
  answer: BackgroundAnswer,
  { target }: Answer,
  last: Metered,
): void => {
  // It may stay for an hour: without the conversation it began with.
  const light: Exchange = { ...exchange, body: NO_BODY, asSent: NO_BODY }
  watchAnswer(relay, answer, {
    inputEstimate: exchange.body.inputEstimate,
    last,
    settle: ({ outcome, metered, error }) => settle(relay, light, target, metered, outcome, error),
  })
  exchange.onLeft()
}

type Told = { usage?: Usage | undefined; rawUsage?: JsonObject | undefined }

/** What cannot be counted must be settled all the same: by what the provider told. */
const metering = (counting: Promise<Metered>, { usage = {}, rawUsage }: Told): Promise<Metered> =>
  counting.catch(() => ({ usage, rawUsage, estimated: true }))

const answerStream = (relay: Relay, exchange: Exchange, answer: StreamAnswer | Promise<StreamAnswer>): Response => {
  const headers = streamHeaders(exchange)
  if (exchange.client.left && !(answer instanceof Promise)) {
    answer.source.abort.abort()
    void settleStream(relay, exchange, { answer, error: undefined, aborted: true })
    return new Response(null, { headers })
  }
  const body = toBody({
    codec: exchange.codec,
    requestId: exchange.id,
    keepAliveMs: relay.keepAliveMs,
    begunAt: exchange.begunAt,
    answer,
    client: exchange.client,
    orphan: () =>
      exchange.codec.tap({
        model: exchange.model.id,
        includeUsage: includeUsage(exchange.body.outline),
        now: Math.floor(relay.clock.now() / 1000),
      }),
    onEnd: (end) => void settleEnd(relay, exchange, end, answer),
    onProgress: ({ usage, output }) =>
      relay.ledger.progress(exchange.reservation, {
        ...withPrompt(usage ?? {}, exchange.body.inputEstimate),
        output: Math.max(usage?.output ?? 0, estimateOutput(output)),
      }),
  })
  return new Response(body, { headers })
}

/** A client that left while its stream was begun without an answer does not end one that goes on without it. */
const settleEnd = async (
  relay: Relay,
  exchange: Exchange,
  end: StreamEnd,
  running: StreamAnswer | Promise<StreamAnswer>,
): Promise<void> => {
  if (!exchange.background || !end.aborted || end.answer !== undefined) return settleStream(relay, exchange, end)
  const answer = await Promise.resolve(running).catch(() => undefined)
  answer?.source.abort.abort()
  return settleStream(relay, exchange, { ...end, answer })
}

const settleStream = async (relay: Relay, exchange: Exchange, end: StreamEnd): Promise<void> => {
  const { answer, error, aborted } = end
  const { kept } = exchange
  exchange.release()
  const outcome: Outcome = aborted ? 'aborted' : error === undefined ? 'done' : 'failed'
  if (answer === undefined) {
    settle(relay, exchange, undefined, aborted ? sentOnly(exchange) : NOTHING, outcome, error)
    return
  }
  const final = answer.tap.state === 'done'
  if (kept !== undefined && !final) {
    goOn(relay, exchange, kept, answer, await metering(meterStream(exchange, answer.tap, false), answer.tap))
    return
  }
  // Counting takes a while: what can no longer be used must not be held for it.
  if (!final) relay.ledger.narrow(exchange.reservation, mostOf(exchange, answer.tap))
  const metered = await metering(meterStream(exchange, answer.tap, final), answer.tap)
  settle(relay, exchange, answer.target, metered, outcome, error)
}

/** No token is shorter than a byte, and no character longer than three. */
const mostOf = (exchange: Exchange, { usage, output }: Tap): number =>
  totalTokens({
    ...withPrompt(usage ?? {}, exchange.body.inputEstimate),
    output: (usage?.output ?? 0) + output.chars * 3,
  })

/** A client that left while the provider was at work: the prompt has been read there, what came of it is unknown. */
const sentOnly = (exchange: Exchange): Metered =>
  exchange.attempts.length === 0
    ? NOTHING
    : { usage: { input: exchange.body.inputEstimate, output: 0 }, rawUsage: undefined, estimated: true }

/** Settles an exchange that came to no answer, and gives the error to answer with. */
const settleError = (relay: Relay, exchange: Exchange, error: unknown): unknown => {
  const aborted = exchange.client.left
  const known =
    error instanceof GatewayError ? error : new GatewayError('internal_error', 'The gateway failed.', { cause: error })
  const outcome: Outcome = aborted ? 'aborted' : known.status < 500 ? 'refused' : 'failed'
  settle(relay, exchange, undefined, aborted ? sentOnly(exchange) : NOTHING, outcome, aborted ? undefined : known)
  return error
}
