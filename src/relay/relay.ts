// An admitted exchange to its answer: the attempt loop, the early start of slow streams, and the one settlement.

import { GatewayError } from '../errors.ts'
import type { JsonObject } from '../ir/json.ts'
import { totalTokens, type Usage } from '../ir/usage.ts'
import type { AttemptNote, Outcome } from '../ledger/ledger.ts'
import { includeUsage } from '../wire/chat-completions/pass.ts'
import type { Tap } from '../wire/codec.ts'
import { type Answer, attempt, type JsonAnswer, type StreamAnswer, timeLeft } from './attempt.ts'
import { type StreamEnd, toBody } from './body.ts'
import type { Exchange, Relay } from './exchange.ts'
import { type Metered, meterAnswer, meterStream } from './meter.ts'
import { route, type Target } from './route.ts'
import { timedOut } from './upstream.ts'

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

/**
 * Tries targets in order. Moves on only for errors another target may not share, and only before the first byte of an
 * answer.
 */
const runAttempts = async (relay: Relay, exchange: Exchange): Promise<Answer> => {
  const targets = route(relay, exchange)
  if (targets.length === 0) {
    throw new GatewayError(
      'service_unavailable',
      `No provider account is configured for the model ${exchange.model.id}. Use another model, or tell those who run the gateway.`,
      { retryAfterMs: 60_000, retry: false },
    )
  }
  let failure: GatewayError | undefined
  let refused: GatewayError | undefined
  for (const target of targets.slice(0, relay.maxTries)) {
    if (exchange.client.left || timeLeft(exchange, target) === 0) break
    try {
      return await record(relay, exchange, target)
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      // What another model cannot take says nothing of the one that was asked for.
      if (!error.failover && target.model.id !== exchange.model.id) {
        refused ??= error
        continue
      }
      // The last word goes to the first failure of the model that was asked for, unless another is plainer: that this
      // target will never take the request says nothing of one that needs time only.
      const plainer = failure?.code === 'service_unavailable' && (error.retry || !error.failover)
      if (failure === undefined || plainer) failure = error
      if (!error.failover) throw error
    }
  }
  throw failure ?? refused ?? timedOut('did not answer')
}

const record = async (relay: Relay, exchange: Exchange, target: Target): Promise<Answer> => {
  const { health } = relay
  const startedAt = relay.clock.now()
  const noted: AttemptNote = {
    provider: target.provider.id,
    account: target.account.name,
    model: target.model.id,
    wire: target.wire,
    ms: 0,
  }
  exchange.attempts.push(noted)
  const abort = new AbortController()
  exchange.client.call = abort
  const begunAt = health.begin(target.name)
  try {
    const answer = await attempt(relay, exchange, target, abort)
    exchange.firstByteAt = relay.clock.now()
    noted.ms = exchange.firstByteAt - startedAt
    health.succeeded(target.name, begunAt)
    return answer
  } catch (error) {
    // Whatever else this provider may say, nobody listens: a stream that begins with an error may stay open for long.
    abort.abort()
    noted.ms = relay.clock.now() - startedAt
    if (!(error instanceof GatewayError) || exchange.client.left) {
      health.ended(target.name)
      throw error
    }
    noted.errorCode = error.code
    if (error.provider?.status !== undefined) noted.providerStatus = error.provider.status
    const { code, requestId } = error.provider ?? {}
    const { credential } = target.account
    if (code !== undefined && !quotes(code, credential)) noted.providerCode = code
    if (requestId !== undefined && !quotes(requestId, credential)) noted.providerRequestId = requestId
    // What no retry mends is the request's fault, even where another target may take it.
    if (error.failover && error.retry)
      health.failed(target.name, error.code === 'service_unavailable' ? error.retryAfterMs : undefined)
    else health.ended(target.name)
    throw error
  }
}

/** Whether a provider's code or id repeats the credential, which nobody is to read. One of a few letters hides nothing. */
const quotes = (text: string, credential: string): boolean => credential.length >= 8 && text.includes(credential)

const answerWhole = async (relay: Relay, exchange: Exchange, running: Promise<Answer>): Promise<Response> => {
  let answer: JsonAnswer
  try {
    answer = (await running) as JsonAnswer
  } catch (error) {
    throw settleError(relay, exchange, error)
  }
  const metered =
    answer.usage?.output === undefined ? await metering(meterAnswer(exchange, answer), answer) : known(answer)
  settle(relay, exchange, answer.target, metered, exchange.client.left ? 'aborted' : 'done', undefined)
  return new Response(answer.text, { headers: answerHeaders(exchange, 'application/json') })
}

const known = ({ usage, rawUsage }: Told): Metered => ({ usage: usage ?? {}, rawUsage, estimated: false })

type Told = { usage?: Usage | undefined; rawUsage?: JsonObject | undefined }

/** What cannot be counted must be settled all the same: by what the provider told. */
const metering = (counting: Promise<Metered>, told: Told): Promise<Metered> =>
  counting.catch(() => ({ ...known(told), estimated: true }))

const answerStream = (relay: Relay, exchange: Exchange, answer: StreamAnswer | Promise<StreamAnswer>): Response => {
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
    onEnd: (end) => void settleStream(relay, exchange, end),
    onProgress: ({ usage, output }) =>
      relay.ledger.progress(exchange.reservation, {
        ...usage,
        input: usage?.input ?? exchange.body.inputEstimate,
        output: Math.max(usage?.output ?? 0, Math.ceil(output.chars / 4)),
      }),
  })
  const headers = answerHeaders(exchange, 'text/event-stream; charset=utf-8')
  headers['cache-control'] = 'no-cache, no-transform'
  headers['x-accel-buffering'] = 'no'
  return new Response(body, { headers })
}

const answerHeaders = (exchange: Exchange, contentType: string): Record<string, string> => {
  const headers: Record<string, string> = {
    ...exchange.headersOut,
    'content-type': contentType,
    'x-request-id': exchange.id,
  }
  if (exchange.wire === 'messages') headers['request-id'] = exchange.id
  if (exchange.dropped.length > 0) headers['x-gateway-dropped'] = headerList(exchange.dropped)
  return headers
}

/** Paths as one header value: printable ASCII, within what clients and proxies accept. */
const headerList = (paths: string[]): string =>
  paths
    .join(', ')
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, 4_000)

const settleStream = async (relay: Relay, exchange: Exchange, end: StreamEnd): Promise<void> => {
  const { answer, error, aborted } = end
  exchange.release()
  const outcome: Outcome = aborted ? 'aborted' : error === undefined ? 'done' : 'failed'
  if (answer === undefined) {
    settle(relay, exchange, undefined, aborted ? sentOnly(exchange) : nothing, outcome, error)
    return
  }
  const final = answer.tap.state === 'done'
  // Counting takes a while: what can no longer be used must not be held for it. No token is shorter than a character.
  if (!final) relay.ledger.narrow(exchange.reservation, mostOf(exchange, answer.tap))
  const metered = await metering(meterStream(exchange, answer.tap, final), answer.tap)
  settle(relay, exchange, answer.target, metered, outcome, error)
}

const mostOf = (exchange: Exchange, { usage, output }: Tap): number =>
  totalTokens({
    ...usage,
    input: usage?.input ?? exchange.body.inputEstimate,
    output: (usage?.output ?? 0) + output.chars,
  })

const nothing: Metered = { usage: {}, rawUsage: undefined, estimated: false }

/** A client that left while the provider was at work: the prompt has been read there, what came of it is unknown. */
const sentOnly = (exchange: Exchange): Metered =>
  exchange.attempts.length === 0
    ? nothing
    : { usage: { input: exchange.body.inputEstimate, output: 0 }, rawUsage: undefined, estimated: true }

/** Settles an exchange that came to no answer, and gives the error to answer with. */
const settleError = (relay: Relay, exchange: Exchange, error: unknown): unknown => {
  const aborted = exchange.client.left
  const known = error instanceof GatewayError ? error : undefined
  const outcome: Outcome = aborted ? 'aborted' : known !== undefined && known.status < 500 ? 'refused' : 'failed'
  settle(relay, exchange, undefined, aborted ? sentOnly(exchange) : nothing, outcome, aborted ? undefined : known)
  return error
}

const settle = (
  relay: Relay,
  exchange: Exchange,
  target: Target | undefined,
  { usage, rawUsage, estimated }: Metered,
  outcome: Outcome,
  error: GatewayError | undefined,
): void => {
  const totalMs = relay.clock.now() - exchange.startedAt
  const status = exchange.stream && target !== undefined ? 200 : (error?.status ?? (outcome === 'aborted' ? 499 : 200))
  const last = exchange.attempts.at(-1)
  const costMicroUsd = relay.ledger.settle(exchange.reservation, {
    outcome,
    usage,
    estimated,
    rawUsage,
    status,
    errorCode: error?.code,
    model: target?.model.id,
    provider: target?.provider.id ?? last?.provider,
    account: target?.account.name ?? last?.account,
    upstreamModel: target?.model.upstream,
    providerWire: target?.wire ?? last?.wire,
    attempts: exchange.attempts.length,
    firstByteMs: exchange.firstByteAt === undefined ? undefined : exchange.firstByteAt - exchange.startedAt,
    totalMs,
    trail: exchange.attempts,
    dropped: exchange.dropped,
  })
  exchange.onSettled({
    outcome,
    status,
    errorCode: error?.code,
    tokens: {
      input: usage.input ?? 0,
      cacheRead: usage.cacheRead ?? 0,
      cacheWrite: usage.cacheWrite ?? 0,
      output: usage.output ?? 0,
    },
    reasoning: usage.reasoning ?? 0,
    costMicroUsd,
    estimated,
    totalMs,
  })
}
