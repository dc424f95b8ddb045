// One call to a target: sent, timed, and failed in the gateway's own words.

import { GatewayError, type Remedy } from '../errors.ts'
import { type JsonObject, parseJson, parseObject } from '../ir/json.ts'
import type { ChatWire } from '../ir/wire.ts'
import { framesIn } from '../lib/sse.ts'
import type { PassCodec } from '../wire/codec.ts'
import { refusedIn } from '../wire/refused.ts'
import { NO_IMAGE } from '../wire/unreadable.ts'
import { ERROR_BYTES, readText } from './answer-text.ts'
import type { ClientRequest, Relay } from './exchange.ts'
import type { Target } from './route.ts'
import { canConnect, type Outgoing, send, timedOut } from './upstream.ts'

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
    throw await refusal({ relay, target, codec, abort }, response, outgoing.body)
  } finally {
    clearTimeout(timer)
  }
}

/** Milliseconds left of the request's total timeout at this target; 0 when it is over. */
export const timeLeft = (request: Pick<ClientRequest, 'begunAt'>, target: Target): number =>
  Math.max(0, request.begunAt + target.provider.timeouts.totalMs - performance.now())

/** A provider's error response, in the gateway's words. `sent`: the body that it refuses. */
const refusal = async (
  { relay, target, codec, abort }: Pick<Call, 'relay' | 'target' | 'codec' | 'abort'>,
  response: Response,
  sent: Outgoing['body'],
): Promise<GatewayError> => {
  const timer = setTimeout(() => abort.abort(), REFUSAL_MS)
  const text = await readText(response, ERROR_BYTES, abort).catch(() => '')
  clearTimeout(timer)
  const body = errorIn(text)
  const error = codec.decodeError(response.status, body)
  const isAbout = sent !== undefined && codec.wire !== 'images' && mayName(error, response.status)
  const refused = isAbout
    ? await relay.turns(sent.length, () => refusedIn(target.wire as ChatWire, sentIn(sent), body))
    : {}
  const requestId =
    response.headers.get('request-id') ?? response.headers.get('x-request-id') ?? error.provider?.requestId
  const provider = { ...error.provider, status: response.status, requestId }
  if (refused.sightless && error.code === 'upstream_error')
    return new GatewayError('invalid_request', NO_IMAGE, { provider })
  // A fault of the server's own that names something is one of the request only where there is another form of that.
  const isHeeded = response.status < 500 || HEEDED_OF_FAULTS.has(refused.remedy)
  return new GatewayError(error.code, error.message, {
    param: error.param,
    details: error.details,
    retryAfterMs: retryAfter(response.headers) ?? error.retryAfterMs,
    retry: error.retry,
    failover: error.failover,
    remedy: error.remedy ?? (isHeeded ? refused.remedy : undefined),
    named: error.remedy === undefined ? refused.named : error.named,
    place: isHeeded ? refused.place : undefined,
    window: error.window,
    provider,
  })
}

/** Statuses of refusals that may name a part of the request. Some servers answer with 500 where they cannot read one. */
const NAMING = new Set([400, 422, 500])
const HEEDED_OF_FAULTS = new Set<Remedy | undefined>(['functions-only', 'chat-wire'])

/** Whether a refusal is about the request, and no class of its own says what. */
const mayName = ({ code, failover }: GatewayError, status: number): boolean =>
  NAMING.has(status) && (code === 'invalid_request' || (code === 'upstream_error' && (status >= 500 || !failover)))

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
