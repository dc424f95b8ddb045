// From an admitted exchange to its answer: the early start of slow streams, and the one settlement.

import { GatewayError } from '../errors.ts'
import type { JsonObject } from '../ir/json.ts'
import { totalTokens, type Usage, withPrompt } from '../ir/usage.ts'
import type { BackgroundAnswer } from '../ledger/background.ts'
import type { Begun, Outcome } from '../ledger/ledger.ts'
import { collectOnceQuiet } from '../lib/collect.ts'
import { includeUsage } from '../wire/chat-completions/pass.ts'
import type { Tap } from '../wire/codec.ts'
import { CODECS } from '../wire/index.ts'
import { answerStateOf } from '../wire/responses/background.ts'
import { callsInAnswer } from '../wire/tools/server-calls.ts'
import { picturesAsked } from './adapt/pictures.ts'
import { answerHeaders, streamHeaders } from './answer-headers.ts'
import { attempt } from './attempt.ts'
import { recordAnswer } from './background/answers.ts'
import { watchAnswer } from './background/polling.ts'
import { type StreamEnd, toBody } from './body.ts'
import { hearAsked, hearWhole } from './capture.ts'
import { NO_BODY, withoutPrompt } from './client-body.ts'
import { type Exchange, type Metered, secondsOf } from './exchange.ts'
import {
  answersAsked,
  callsTold,
  meterProgress,
  meterStream,
  meterWhole,
  NO_USAGE,
  picturesCome,
  picturesIn,
} from './meter.ts'
import type { Answer, JsonAnswer, Read, StreamAnswer } from './reading.ts'
import { isReferable, placeAnswer, rememberAccount, route } from './route.ts'
import type { Relay } from './services.ts'
import { settle } from './settle.ts'
import { openRaw, openStream } from './stream-answer.ts'
import type { Target } from './target.ts'
import { firstAnswer, isTargetFault, restAsked } from './tries.ts'
import { readAnswer } from './whole-answer.ts'

/**
 * Answers an exchange. Whatever happens, the reservation is settled once. Throws GatewayError for what is answered as an
 * HTTP error; a stream that has begun reports its failure within.
 */
export const relayExchange = async (relay: Relay, exchange: Exchange): Promise<Response> => {
  if (!exchange.stream) return answerJson(relay, exchange)
  const isRaw = exchange.codec.isRaw?.(exchange.body.outline) === true
  const running = runAttempts(relay, exchange, isRaw ? openRaw : openStream)
  // The client may disconnect before anyone awaits this: its failure is settled then, and must not go unhandled.
  running.catch(() => undefined)
  // What is no text cannot be begun with a keep-alive.
  const begun = isRaw ? running : withinEarlyStart(running, relay.earlyStartMs)
  const answer = await begun.catch(async (error) => {
    throw await settleError(relay, exchange, error)
  })
  return answerStream(relay, exchange, answer ?? running)
}

const anAnswer = async <Made extends Answer>(relay: Relay, exchange: Exchange, read: Read<Made>): Promise<Made> => {
  const targets = await relay.turns(exchange.body.size, () => route(relay, exchange))
  return firstAnswer(relay, exchange, targets, (target, abort) =>
    attempt({ relay, request: exchange, target, abort }, read),
  )
}

/** The prompt is let go of once it has been answered. */
const whileHeard = async <T>(hearing: Promise<void>, answering: Promise<T>): Promise<T> => {
  const [answered] = await Promise.allSettled([answering, hearing])
  if (answered.status === 'rejected') throw answered.reason
  return answered.value
}

const runAttempts = async <Made extends Answer>(relay: Relay, exchange: Exchange, read: Read<Made>): Promise<Made> => {
  const said = exchange.trace?.said
  const answer = await (said === undefined
    ? anAnswer(relay, exchange, read)
    : whileHeard(hearAsked(relay, exchange, said), anAnswer(relay, exchange, read)))
  if (exchange.stream) letGoOfPrompt(exchange)
  collectOnceQuiet(exchange.body.size)
  const { target } = answer
  if (target.wire !== exchange.wire) return answer
  const id = answer.kind === 'json' ? answer.body.id : answer.tap.answerId
  if (typeof id === 'string' && isReferable(exchange)) {
    exchange.answerId = id
    rememberAccount(relay, exchange.key.id, id, target)
    // It may be settled long after it can be gone on from.
    if (exchange.background) void placeAnswer(relay, exchange, target)
  }
  if (exchange.background) exchange.backgroundAnswer = await recordAnswer(relay, exchange, target, id)
  return answer
}

/** Nothing is asked again once a stream has begun: a long conversation must not stay in memory for as long as it runs. */
const letGoOfPrompt = (exchange: Exchange): void => {
  freeBody(exchange)
  exchange.body = withoutPrompt(exchange.body)
  exchange.asSent = exchange.body
  exchange.decoded = undefined
}

/** What was read of it lies about until it is collected; its bytes need not. */
const freeBody = ({ body, asSent }: Exchange): void => {
  body.free?.()
  asSent.free?.()
}

/** The answer, or undefined once it is time to begin the client's stream without it. */
const withinEarlyStart = async <T>(running: Promise<T>, earlyStartMs: number): Promise<T | undefined> => {
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

const answerJson = async (relay: Relay, exchange: Exchange): Promise<Response> => {
  const answer = await runAttempts(relay, exchange, readAnswer).catch(async (error) => {
    throw await settleError(relay, exchange, error)
  })
  const { backgroundAnswer } = exchange
  if (backgroundAnswer !== undefined && answerStateOf(answer.body) === 'open')
    settleLater(relay, exchange, backgroundAnswer, { target: answer.target, lastKnown: promptOnly(exchange) })
  else await settleJson(relay, exchange, answer)
  freeBody(exchange)
  return new Response(typeof answer.text === 'string' ? answer.text : answer.text.copied(), {
    headers: answerHeaders(exchange, answer.contentType ?? 'application/json'),
  })
}

const settleJson = async (relay: Relay, exchange: Exchange, answer: JsonAnswer): Promise<void> => {
  const metered = await orReported(meterWhole(exchange.body.inputEstimate, answer, answersAsked(exchange)), answer)
  const pictures = answer.target.model.kind === 'image' ? picturesIn(answer.body, exchange) : undefined
  await settle(relay, exchange, {
    target: answer.target,
    outcome: exchange.client.gone ? 'aborted' : 'done',
    metered: { ...metered, serverTools: callsInAnswer(answer.body), pictures },
  })
  await exchange.kept
}

/**
 * The client has its answer for now; the exchange is settled when the provider has finished in the background.
 * `lastKnown`: what is billed if the provider never says how it ended.
 */
const settleLater = (
  relay: Relay,
  { decoded: _, ...exchange }: Exchange,
  answer: BackgroundAnswer,
  { target, lastKnown }: { target: Target; lastKnown: Metered },
): void => {
  const { handOver } = relay.background
  if (handOver !== undefined) {
    handOver(exchange.id, lastKnown, begunOf(exchange))
    exchange.onDetached()
    return
  }
  // It may take an hour: the conversation must not stay in memory that long.
  const withoutBody: Exchange = { ...exchange, body: NO_BODY, asSent: NO_BODY }
  const said = exchange.trace?.said
  watchAnswer(relay, answer, {
    inputEstimate: exchange.body.inputEstimate,
    lastKnown,
    settle: (end) => settle(relay, withoutBody, { ...end, target }),
    ...(said && { hear: (body) => hearWhole(said, body, { codec: CODECS.responses, undo: undefined }) }),
  })
  exchange.onDetached()
}

/** What is said of it stays here. */
const begunOf = ({
  attempts,
  firstByteMs,
  dropped,
  trace,
}: Pick<Exchange, 'attempts' | 'firstByteMs' | 'dropped' | 'trace'>): Begun => {
  if (trace === undefined) return { attempts, firstByteMs, dropped }
  const { said: _, ...spans } = trace
  return { attempts, firstByteMs, dropped, spans }
}

type Reported = { usage?: Usage | undefined; rawUsage?: JsonObject | undefined }

/** An exchange is settled even if counting fails: by what the provider has reported. */
const orReported = (counting: Promise<Metered>, { usage = {}, rawUsage }: Reported): Promise<Metered> =>
  counting.catch(() => ({ usage, rawUsage, estimated: true }))

const answerStream = (relay: Relay, exchange: Exchange, answer: StreamAnswer | Promise<StreamAnswer>): Response => {
  const contentType = answer instanceof Promise ? undefined : answer.contentType
  const body = toBody({
    codec: exchange.codec,
    requestId: exchange.id,
    keepAliveMs: contentType === undefined ? relay.keepAliveMs : Number.POSITIVE_INFINITY,
    begunAt: exchange.begunAt,
    answer,
    client: exchange.client,
    newTap: () =>
      exchange.codec.tap({
        model: exchange.model.id,
        includeUsage: includeUsage(exchange.body.outline),
        now: secondsOf(relay.clock),
      }),
    onEnd: (end) =>
      onStreamEnd(relay, exchange, end, answer).catch((cause) => {
        // Its client has no more to learn, and nobody else hears of it.
        exchange.onBroken(ownFault(cause))
      }),
    onProgress: (answer) =>
      relay.ledger.progress(exchange.reservation, meterProgress(exchange, answer), callsTold(answer.tap)),
  })
  const headers = contentType === undefined ? streamHeaders(exchange) : answerHeaders(exchange, contentType)
  return new Response(body, { headers })
}

const onStreamEnd = async (
  relay: Relay,
  exchange: Exchange,
  end: StreamEnd,
  running: StreamAnswer | Promise<StreamAnswer>,
): Promise<void> => {
  const { answer: broken, error } = end
  if (error !== undefined) exchange.onBroken(error)
  if (broken !== undefined && error !== undefined && !exchange.client.gone && isTargetFault(error))
    relay.health.brokeOff(broken.target.name, restAsked(error))
  if (!exchange.background || !end.aborted || end.answer !== undefined) return settleStream(relay, exchange, end)
  // The client is gone before the provider has named the answer: without its id nobody could find it again.
  const answer = await Promise.resolve(running).catch(() => undefined)
  answer?.source.abort.abort()
  return settleStream(relay, exchange, { ...end, answer })
}

const settleStream = async (relay: Relay, exchange: Exchange, end: StreamEnd): Promise<void> => {
  const { answer, error, aborted } = end
  const { backgroundAnswer } = exchange
  exchange.release()
  const outcome: Outcome = aborted ? 'aborted' : error === undefined ? 'done' : 'failed'
  if (answer === undefined)
    return settle(relay, exchange, { outcome, metered: aborted ? promptOnly(exchange) : NO_USAGE, error })
  const final = answer.tap.state === 'done'
  // Counting a text takes a while: tokens that can no longer be used must not be held meanwhile.
  if (!final && backgroundAnswer === undefined && exchange.model.kind === 'text')
    relay.ledger.narrow(exchange.reservation, upperBoundOf(exchange, answer.tap))
  const counted = await orReported(meterStream(exchange, answer, final), answer.tap)
  const pictures = answer.target.model.kind === 'image' ? picturesCome(exchange, answer, final) : undefined
  const metered = { ...counted, serverTools: answer.tap.serverTools, pictures }
  const { target } = answer
  if (!final && backgroundAnswer !== undefined)
    settleLater(relay, exchange, backgroundAnswer, { target, lastKnown: metered })
  else await settle(relay, exchange, { target, outcome, metered, error })
  // Who has the end of an answer may refer to it, whatever happens to us.
  if (outcome === 'done') await exchange.kept
}

/** The most tokens a cut stream can come to: no token is shorter than a byte, and no UTF-16 unit longer than three. */
const upperBoundOf = (exchange: Exchange, { usage, output }: Tap): number =>
  totalTokens({
    ...withPrompt(usage ?? {}, exchange.body.inputEstimate),
    output: (usage?.output ?? 0) + output.chars * 3,
  })

/**
 * For a client that disconnected before the answer: the provider has read the prompt, and its output is unknown. Pictures it
 * draws all the same.
 */
const promptOnly = (exchange: Exchange): Metered =>
  exchange.sent
    ? {
        usage: { input: exchange.body.inputEstimate, output: 0 },
        rawUsage: undefined,
        estimated: true,
        pictures: exchange.model.kind === 'image' ? picturesAsked(exchange.body.outline) : undefined,
      }
    : NO_USAGE

const ownFault = (cause: unknown): GatewayError => new GatewayError('internal_error', 'The gateway failed.', { cause })

/** Settles an exchange that got no answer, and returns the error to answer with. */
const settleError = async (relay: Relay, exchange: Exchange, error: unknown): Promise<unknown> => {
  const aborted = exchange.client.gone
  const known = error instanceof GatewayError ? error : ownFault(error)
  const outcome: Outcome = aborted ? 'aborted' : known.status < 500 ? 'refused' : 'failed'
  const metered = aborted ? promptOnly(exchange) : NO_USAGE
  await settle(relay, exchange, { outcome, metered, error: aborted ? undefined : known })
  freeBody(exchange)
  return error
}
