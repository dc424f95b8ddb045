// One call to a target: sent, timed, and failed in the gateway's own words.

import { GatewayError } from '../errors.ts'
import { parseJson } from '../ir/json.ts'
import { retryAfterIn } from '../lib/retry-after.ts'
import { framesIn } from '../lib/sse.ts'
import type { PassCodec } from '../wire/codec.ts'
import { withRefusal } from '../wire/refusal/body.ts'
import { optionsOf, understood } from './adapt/refusal.ts'
import { ERROR_BYTES, readText } from './answer-text.ts'
import { type ClientRequest, secondsOf } from './exchange.ts'
import type { Relay } from './services.ts'
import type { Outgoing, Target } from './target.ts'
import { attemptContext } from './trace.ts'
import { canConnect, send, timedOut } from './upstream.ts'

/** The status of an answer that is not whole. */
const PARTIAL = 206

/** How long the body of a refusal may take: its status alone says enough to go on with. */
const REFUSAL_MS = 5_000

/** What a call needs of its request. */
export type Caller = Pick<ClientRequest, 'headers' | 'begunAt' | 'trace'>

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
    const response = await send({ relay, target, abort }, traced(outgoing, request), request.headers)
    answered = true
    if (response.ok && response.status !== PARTIAL) return await read(response, heard)
    const body = await refusalBody(response, abort)
    const cut = codec.cutAnswer?.(response.status, body, () => secondsOf(relay.clock))
    if (cut !== undefined) return await read(Response.json(cut), heard)
    throw refusal(response, body, codec)
  } catch (error) {
    throw error instanceof GatewayError ? await understood(error, { relay, target }, outgoing) : error
  } finally {
    clearTimeout(timer)
  }
}

const traced = (outgoing: Outgoing, { trace }: Caller): Outgoing =>
  trace === undefined ? outgoing : { ...outgoing, trace: attemptContext(trace) }

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
    retryAfterMs: retryAfterIn(response.headers, Date.now()) ?? error.retryAfterMs,
    provider: { ...error.provider, status: response.status, requestId },
  })
  return withRefusal(told, body)
}

/** Some servers refuse a request for a stream with an event in place of a body, and frameworks what they cannot read in plain text. */
const errorIn = (text: string): unknown =>
  parseJson(text) ?? parseJson(framesIn(text)[0]?.data ?? '') ?? (SAYS_NOTHING.test(text) ? undefined : text)

/** Nothing, or a page, as proxies answer with; some of them tell an error in XML. */
const SAYS_NOTHING = /^\s*(?:$|<(?!\?xml\b|[\w:]*(?:error|fault|problem|response)))/i
