// What a worker does not answer itself: it passes the request on to the owner, and what comes back as it comes.

import { unavailable } from '../../errors.ts'
import { ALIVE, ENDPOINTS, pathsOf, wireAt } from '../../http/endpoints.ts'
import { errorResponse, requestId } from '../../http/respond.ts'
import { PEER_HEADER } from '../listener.ts'

type Elsewhere = {
  /** The owner's socket. */
  door: string
  addressOf(request: Request): string | undefined
  /** A stream that was passed on has ended. */
  streamed(request: Request): void
}

/** Of one connection alone, or set anew for the next. */
const HOP = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'te', 'trailer', 'proxy-connection']
/** What is no longer than this is held and goes out with its length. */
const WHOLE_BYTES = 1024 * 1024

export const createElsewhere = (how: Elsewhere) => {
  const passing = new Set<Request>()
  const ended = (request: Request): void => {
    if (passing.delete(request)) how.streamed(request)
  }
  return {
    /** Undefined for what a worker answers itself: requests for models, lists of them, and that it lives. */
    pass(request: Request): Promise<Response> | undefined {
      if (isOwn(request.url)) return undefined
      passing.add(request)
      return passOn(request, { ...how, streamed: ended })
    },
    /** How many requests are passed on now. */
    passing: () => passing.size,
  }
}

const OWN = new Set(
  ENDPOINTS.filter(({ method, path }) => method === 'POST' && !path.includes('{'))
    .flatMap(({ path }) => pathsOf(path))
    .concat(ALIVE, ...['/v1', '/v1/models'].flatMap(pathsOf)),
)
/** What would arrive as another path: nothing is served under such a one. */
const REWRITTEN = /^\/\/|\/\.\.?(?:\/|$)|[\\\t\n\r]/
const MODEL = /^(?:\/v1){1,2}\/models\/./

const isOwn = (url: string): boolean => {
  const from = url.indexOf('/', url.indexOf('//') + 2)
  const end = url.indexOf('?', from)
  const path = url.slice(from, end === -1 ? undefined : end).replace(/\/$/, '')
  return OWN.has(path) || MODEL.test(path) || REWRITTEN.test(path)
}

const passOn = async (request: Request, { door, addressOf, streamed }: Elsewhere): Promise<Response> => {
  const headers = new Headers(request.headers)
  for (const name of HOP) headers.delete(name)
  headers.set(PEER_HEADER, addressOf(request) ?? '')
  let answer: Response
  const whole = (body: ArrayBuffer | null, how: ResponseInit): Response => {
    streamed(request)
    return new Response(body, how)
  }
  try {
    answer = await fetch(request.url, {
      ...{ unix: door, method: request.method, headers, body: request.body, signal: request.signal },
      ...{ redirect: 'manual', decompress: false, timeout: false, keepalive: false, duplex: 'half' },
    } as RequestInit)
  } catch (cause) {
    streamed(request)
    const error = unavailable('is starting its books anew', { cause, retryAfterMs: 1_000 })
    return errorResponse(error, requestId(), wireAt(new URL(request.url).pathname))
  }
  const given = new Headers(answer.headers)
  for (const name of [...HOP, 'date']) given.delete(name)
  const { status, body } = answer
  const length = Number(given.get('content-length') ?? Number.NaN)
  if (request.method === 'HEAD' || body === null) return whole(null, { status, headers: given })
  given.delete('content-length')
  if (length <= WHOLE_BYTES) return whole(await answer.arrayBuffer(), { status, headers: given })
  return new Response(
    endingIn(body, () => streamed(request)),
    { status, headers: given },
  )
}

/** The same stream; `end` is called once, when it has ended however it does. */
const endingIn = (body: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>({
    async pull(out) {
      try {
        const { done, value } = await reader.read()
        if (!done) return out.enqueue(value)
        end()
        out.close()
      } catch (cause) {
        end()
        out.error(cause)
      }
    },
    async cancel(reason) {
      end()
      await reader.cancel(reason).catch(() => undefined)
    },
  })
}
