// One call to a target: sent, timed, and failed in the gateway's own words.

import { type ErrorOptions, GatewayError, type Remedy } from '../errors.ts'
import { asObject, asText, type JsonObject, parseJson, parseObject } from '../ir/json.ts'
import { isChatWire } from '../ir/wire.ts'
import { framesIn } from '../lib/sse.ts'
import type { PassCodec } from '../wire/codec.ts'
import { refusalOf, withRefusal } from '../wire/refusal/body.ts'
import { refusedIn } from '../wire/refusal/refused.ts'
import { NO_IMAGE } from '../wire/refusal/unreadable.ts'
import { ERROR_BYTES, readText } from './answer-text.ts'
import { type ClientRequest, secondsOf } from './exchange.ts'
import type { Relay } from './services.ts'
import type { Outgoing, Target } from './target.ts'
import { canConnect, send, timedOut } from './upstream.ts'

/** The status of an answer that is not whole. */
const PARTIAL = 206

/** How long the body of a refusal may take: its status alone says enough to go on with. */
const REFUSAL_MS = 5_000

/** What a call needs of its request. */
export type Caller = Pick<ClientRequest, 'headers' | 'begunAt'>

export type Call<Request extends Caller = Caller> = {
  relay: Relay
  request: Request
  target: Target
  /** Of the wire the provider is reached on. */
  codec: PassCodec
  /** Ends the call. */
  abort: AbortController
}

/**
 * Sends and reads; the timeouts run until `read` is done. `read` calls `heard` for each chunk of a JSON body: from the
 * first on, the idle timeout of streams applies. Throws GatewayError for a status that is no success and for network errors.
 */
export const call = async <Answer>(
  { relay, request, target, codec, abort }: Call,
  outgoing: Outgoing,
  read: (response: Response, heard: () => void) => Promise<Answer>,
): Promise<Answer> => {
  const { connectMs, firstByteMs, idleMs } = target.provider.timeouts
  let answered = false
  const giveUp = (): void => abort.abort(timedOut('did not answer'))
  // One timer for all timeouts: nearly every answer comes before the first.
  const last = Math.min(firstByteMs, timeLeft(request, target))
  const first = Math.min(connectMs, last)
  let timer = setTimeout(() => {
    if (first === last) return giveUp()
    timer = setTimeout(giveUp, last - first)
    // Many models think for longer than it may take to connect.
    if (answered) return
    void canConnect(target).then((can) => {
      if (!can && !answered) abort.abort(timedOut('could not be reached'))
    })
  }, first)
  const heard = (): void => {
    clearTimeout(timer)
    const left = timeLeft(request, target)
    timer =
      left < idleMs
        ? setTimeout(() => abort.abort(timedOut('did not finish')), left)
        : setTimeout(() => abort.abort(timedOut('fell silent and did not go on')), idleMs)
  }
  try {
    const response = await send(relay, target, outgoing, request.headers, abort)
    answered = true
    if (response.ok && response.status !== PARTIAL) return await read(response, heard)
    const body = await refusalBody(response, abort)
    const cut = codec.cutAnswer?.(response.status, body, () => secondsOf(relay.clock))
    if (cut !== undefined) return await read(Response.json(cut), heard)
    throw refusal(response, body, codec)
  } catch (error) {
    throw error instanceof GatewayError ? await withNames(error, { relay, target }, outgoing.body) : error
  } finally {
    clearTimeout(timer)
  }
}

/** Milliseconds left of the request's total timeout at this target; 0 when it is over. */
export const timeLeft = (request: Pick<ClientRequest, 'begunAt'>, target: Target): number =>
  Math.max(0, request.begunAt + target.provider.timeouts.totalMs - performance.now())

const refusalBody = async (response: Response, abort: AbortController): Promise<unknown> => {
  const timer = setTimeout(() => abort.abort(), REFUSAL_MS)
  const text = await readText(response, ERROR_BYTES, abort).catch(() => '')
  clearTimeout(timer)
  return errorIn(text)
}

/** A provider's error response, in the gateway's words. */
const refusal = (response: Response, body: unknown, codec: PassCodec): GatewayError => {
  const error = codec.decodeError(response.status, body)
  const requestId =
    response.headers.get('request-id') ?? response.headers.get('x-request-id') ?? error.provider?.requestId
  const told = new GatewayError(error.code, error.message, {
    ...optionsOf(error),
    retryAfterMs: retryAfter(response.headers) ?? error.retryAfterMs,
    provider: { ...error.provider, status: response.status, requestId },
  })
  return withRefusal(told, body)
}

const optionsOf = (error: GatewayError): ErrorOptions => ({
  param: error.param,
  details: error.details,
  retryAfterMs: error.retryAfterMs,
  retry: error.retry,
  failover: error.failover,
  remedy: error.remedy,
  named: error.named,
  window: error.window,
  ...(error.provider === undefined ? {} : { provider: error.provider }),
})

/** The error with what it refuses of the body that was sent: as a response of its own, or in the place of an answer. */
const withNames = async (
  error: GatewayError,
  { relay, target: { wire } }: Pick<Call, 'relay' | 'target'>,
  sent: Outgoing['body'],
): Promise<GatewayError> => {
  const body = refusalOf(error)
  if (body === undefined || sent === undefined || !mayName(error)) return error
  if (!isChatWire(wire)) return isFault(error) ? error : withMember(error, body)
  const refused = await relay.turns(sent.length, () => refusedIn(wire, sentIn(sent), body))
  const { provider = {} } = error
  if (refused.sightless && error.code === 'upstream_error')
    return new GatewayError('invalid_request', NO_IMAGE, { provider })
  // A fault of the server's own that names something is one of the request only where there is another form of that.
  if (isFault(error) && !HEEDED_OF_FAULTS.has(refused.remedy)) return error
  const { remedy = refused.remedy, named = refused.named } = error
  return new GatewayError(error.code, error.message, {
    ...optionsOf(error),
    ...{ remedy, named: error.remedy === undefined ? refused.named : named, place: refused.place },
  })
}

/** The same on a wire that only passes: by the outermost member that the provider names. */
const withMember = (error: GatewayError, body: unknown): GatewayError => {
  const [member] = /^[\w-]+/.exec(asText(asObject(asObject(body).error).param)) ?? []
  return member === undefined
    ? error
    : new GatewayError(error.code, error.message, { ...optionsOf(error), place: [member] })
}

/** Statuses of refusals that may name a part of the request. Some servers answer with 500 where they cannot read one. */
const NAMING = new Set<number | undefined>([undefined, 200, 400, 422, 500])
const HEEDED_OF_FAULTS = new Set<Remedy | undefined>(['functions-only', 'chat-wire', 'no-web-search'])

const isFault = ({ provider: { status = 0 } = {} }: GatewayError): boolean => status >= 500

/** Whether a refusal is about the request, and no class of its own says what. */
const mayName = (error: GatewayError): boolean => {
  const { code, failover, provider: { status } = {} } = error
  if (!NAMING.has(status)) return false
  return code === 'invalid_request' || (code === 'upstream_error' && (isFault(error) || !failover))
}

const sentIn = (sent: NonNullable<Outgoing['body']>): JsonObject =>
  parseObject(typeof sent === 'string' ? sent : new TextDecoder().decode(sent)) ?? {}

/** Some servers refuse a request for a stream with an event in place of a body. */
const errorIn = (text: string): unknown => parseJson(text) ?? parseJson(framesIn(text)[0]?.data ?? '')

/** `Retry-After` in milliseconds, as seconds or as a time; undefined when absent or neither. */
const retryAfter = (headers: Headers): number | undefined => {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (Number.isFinite(exact)) return Math.max(0, exact)
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const isNumber = /^\d+(\.\d+)?$/.test(value)
  const told = isNumber ? Number(value) * 1000 : Date.parse(value)
  const ms = isNumber && told < EPOCH_MS ? told : told - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

// Some send a time in seconds since the epoch: read as a duration, it would close an account for a day.
const EPOCH_MS = 1e12
