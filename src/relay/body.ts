// The client's end of a stream: pulls from the provider as fast as the client reads, sends keep-alives, ends with the
// wire's own end or an error frame, and reports its end once.

import { GatewayError } from '../errors.ts'
import type { PassCodec, Tap } from '../wire/codec.ts'
import { type Client, disconnect } from './exchange.ts'
import type { StreamAnswer } from './reading.ts'
import { broken, timedOut } from './upstream.ts'

export type StreamEnd = { answer: StreamAnswer | undefined; error: GatewayError | undefined; aborted: boolean }

type BodyOptions = {
  codec: PassCodec
  requestId: string
  keepAliveMs: number
  /** When the exchange began, by `performance.now()`: the start of its total timeout. */
  begunAt: number
  /** The answer, or the attempts still under way when the stream was begun early. */
  answer: StreamAnswer | Promise<StreamAnswer>
  /** Makes the tap that writes the error frame where no provider has answered. */
  newTap: () => Tap
  client: Client
  /** Called once, however it ends. The end of a whole answer leaves once it resolves. */
  onEnd: (end: StreamEnd) => void | Promise<void>
  /** Called about once a second while it runs. */
  onProgress: (answer: StreamAnswer) => void
}

/** How often the usage of a running stream is reported. */
const PROGRESS_MS = 1_000

/** While no provider has answered: the attempts have their own. */
const NO_TIMEOUTS = { idleMs: Number.POSITIVE_INFINITY, totalMs: Number.POSITIVE_INFINITY }

const utf8 = new TextEncoder()

export const toBody = (options: BodyOptions): ReadableStream<Uint8Array> => {
  const { codec, requestId, keepAliveMs, begunAt, onEnd } = options
  const now = performance.now()
  let answer = options.answer instanceof Promise ? undefined : options.answer
  let first = answer?.first
  let ended = false
  let reading = false
  let heardAt = now
  let sentAt = now
  // Streams that begin together must not all report together.
  let reportedAt = now - Math.random() * PROGRESS_MS
  let timer: ReturnType<typeof setTimeout> | undefined
  let out: ReadableStreamDefaultController<Uint8Array> | undefined

  const end = (how: StreamEnd): void | Promise<void> => {
    if (ended) return
    ended = true
    clearTimeout(timer)
    return onEnd(how)
  }

  const fail = (error: GatewayError): void => {
    if (ended || out === undefined) return
    try {
      answer?.source.abort.abort()
      if (answer?.contentType !== undefined) {
        // Of what is no text a client is told by its end, which does not come. The runtime would print a reason.
        out.error()
        return
      }
      out.enqueue(utf8.encode((answer?.tap ?? options.newTap()).fail(error, requestId)))
      out.close()
    } finally {
      void end({ answer, error, aborted: false })
    }
  }

  /** A client that has its answer whole finds its quota up to date, and has been billed for it whatever happens to us. */
  const finish = async ({ source }: StreamAnswer): Promise<void> => {
    void source.drain()
    try {
      await end({ answer, error: undefined, aborted: false })
    } finally {
      // Whatever became of that: nothing else will end this stream.
      if (!options.client.gone) close(source.end)
    }
  }

  const close = (text: string): void => {
    try {
      if (text !== '') send(text)
    } finally {
      out?.close()
    }
  }

  const send = (piece: string | Uint8Array): void => {
    sentAt = performance.now()
    const pieces = typeof piece === 'string' ? answer?.source.bytesOf?.(piece) : undefined
    if (pieces === undefined) out?.enqueue(typeof piece === 'string' ? utf8.encode(piece) : piece)
    else for (const one of pieces) if (one.byteLength > 0) out?.enqueue(one)
  }

  /** The stream's only timer, for all its timeouts. It checks the clock when it fires, so that no event has to reset it. */
  const checkTimes = (): void => {
    if (ended) return
    const now = performance.now()
    if (answer !== undefined) {
      const { timeouts } = answer.target.provider
      const late =
        reading && now - heardAt >= timeouts.idleMs
          ? timedOut('fell silent and did not go on')
          : now - begunAt >= timeouts.totalMs
            ? // A client that reads slowly takes as long: nobody is to blame.
              timedOut('did not finish', { failover: false })
            : undefined
      if (late !== undefined) {
        answer.source.abort.abort(late)
        fail(late)
        return
      }
    }
    if (reading && now - sentAt >= keepAliveMs) {
      // A client that has not read the last keep-alive needs no other.
      if ((out?.desiredSize ?? 0) >= 0) send(codec.keepAlive)
      else sentAt = now
    }
    if (answer !== undefined && now - reportedAt >= PROGRESS_MS) {
      reportedAt = now
      options.onProgress(answer)
    }
    schedule()
  }

  /** Sets the timer for what is due next. */
  const schedule = (): void => {
    if (ended) return
    clearTimeout(timer)
    const now = performance.now()
    // Only while it is being read is a silence the provider's. While it is not, none can end sooner than in `idleMs`.
    const { idleMs, totalMs } = answer?.target.provider.timeouts ?? NO_TIMEOUTS
    const due = Math.min(
      reading ? Math.min(sentAt + keepAliveMs, heardAt + idleMs) : now + Math.min(keepAliveMs, idleMs),
      begunAt + totalMs,
      answer === undefined ? Number.POSITIVE_INFINITY : reportedAt + PROGRESS_MS,
    )
    timer = setTimeout(checkTimes, Math.max(10, due - now))
  }

  /** Waits for the answer where the stream was begun early. */
  const awaitAnswer = async (pending: Promise<StreamAnswer>): Promise<StreamAnswer> => {
    answer = await pending
    first = answer.first
    reading = false
    // Until now only keep-alives were due: the answer has timeouts of its own, and its progress is reported.
    schedule()
    return answer
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        out = controller
        reading = answer === undefined
        // The response's headers leave with the first bytes of its body, which must not wait for the provider's.
        if (answer === undefined) send(codec.keepAlive)
        checkTimes()
      },
      async pull() {
        try {
          const current = answer ?? (await awaitAnswer(Promise.resolve(options.answer)))
          const { source, tap } = current
          let text = first ?? ''
          first = undefined
          while (text === '' && tap.state === 'open') {
            reading = true
            heardAt = performance.now()
            const read = await source.read()
            reading = false
            if (read === undefined) break
            text = read
          }
          if (text === '' && tap.state !== 'done') throw tap.error ?? broken()
          if (ended) return
          if (text !== '') send(text)
          if (tap.state === 'done') await finish(current)
        } catch (error) {
          fail(
            error instanceof GatewayError
              ? error
              : new GatewayError('internal_error', 'Internal error: the gateway failed. Try again.', { cause: error }),
          )
        }
      },
      cancel() {
        disconnect(options.client)
        void end({ answer, error: undefined, aborted: true })
      },
    },
    { highWaterMark: 0 },
  )
}
