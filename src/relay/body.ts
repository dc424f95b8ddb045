// The client's end of a stream: pulls from the provider as fast as the client reads, keeps a silent line open, ends
// with the wire's own end or an error frame, and settles once.

import { GatewayError } from '../errors.ts'
import type { PassCodec, Tap } from '../wire/codec.ts'
import type { StreamAnswer } from './attempt.ts'
import { type Client, leave } from './exchange.ts'
import { broken, timedOut } from './upstream.ts'

export type StreamEnd = { answer: StreamAnswer | undefined; error: GatewayError | undefined; aborted: boolean }

export type BodyOptions = {
  codec: PassCodec
  requestId: string
  keepAliveMs: number
  /** When the exchange began, by `performance.now()`: its total time counts from then. */
  begunAt: number
  /** The answer, or the attempts still under way when the stream was begun early. */
  answer: StreamAnswer | Promise<StreamAnswer>
  /** Builds the wire's error frames where no provider has said anything yet. */
  orphan: () => Tap
  client: Client
  /** Called once, however it ends. */
  onEnd: (end: StreamEnd) => void
  /** Called now and then while it runs. */
  onProgress: (tap: Tap) => void
}

/** How often the figures of a running stream are made durable. */
const PROGRESS_MS = 1_000

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

  const end = (how: StreamEnd): void => {
    if (ended) return
    ended = true
    clearTimeout(timer)
    onEnd(how)
  }

  const finish = (error: GatewayError | undefined): void => {
    if (ended || out === undefined) return
    try {
      if (error !== undefined) {
        answer?.source.abort.abort()
        out.enqueue(utf8.encode((answer?.tap ?? options.orphan()).fail(error, requestId)))
      }
      out.close()
    } finally {
      end({ answer, error, aborted: false })
    }
    if (error === undefined) void answer?.source.drain()
  }

  const send = (text: string): void => {
    sentAt = performance.now()
    out?.enqueue(utf8.encode(text))
  }

  /** One timer for a stream's silences: it looks at the clock when it fires, so that no event has to move it. */
  const watch = (): void => {
    if (ended) return
    const now = performance.now()
    const timeouts = answer?.target.provider.timeouts
    if (timeouts !== undefined && answer !== undefined) {
      const late =
        reading && now - heardAt >= timeouts.idleMs
          ? timedOut('fell silent and did not go on')
          : now - begunAt >= timeouts.totalMs
            ? timedOut('did not finish')
            : undefined
      if (late !== undefined) {
        answer.source.abort.abort(late)
        finish(late)
        return
      }
    }
    if (reading && now - sentAt >= keepAliveMs) {
      // A client that has not taken the last one needs no other.
      if ((out?.desiredSize ?? 0) >= 0) send(codec.keepAlive)
      else sentAt = now
    }
    if (answer !== undefined && now - reportedAt >= PROGRESS_MS) {
      reportedAt = now
      options.onProgress(answer.tap)
    }
    // A silence is the provider's only while it is being read; one that begins from now on is no shorter than these.
    const { idleMs, totalMs } = timeouts ?? { idleMs: Number.POSITIVE_INFINITY, totalMs: Number.POSITIVE_INFINITY }
    const due = Math.min(
      reading ? Math.min(sentAt + keepAliveMs, heardAt + idleMs) : now + Math.min(keepAliveMs, idleMs),
      begunAt + totalMs,
      answer === undefined ? Number.POSITIVE_INFINITY : reportedAt + PROGRESS_MS,
    )
    timer = setTimeout(watch, Math.max(10, due - now))
  }

  /** Waits for the attempts where the stream was begun without them. */
  const answered = async (pending: Promise<StreamAnswer>): Promise<StreamAnswer> => {
    answer = await pending
    first = answer.first
    reading = false
    return answer
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        out = controller
        reading = answer === undefined
        // The response's head leaves with the first bytes of its body: begun early, it must not wait for a provider's.
        if (answer === undefined) send(codec.keepAlive)
        watch()
      },
      async pull() {
        try {
          const { source, tap } = answer ?? (await answered(Promise.resolve(options.answer)))
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
          // Settled with the last word, not after it: a client that has its answer finds its quota up to date.
          if (tap.state === 'done') finish(undefined)
        } catch (error) {
          finish(
            error instanceof GatewayError
              ? error
              : new GatewayError('internal_error', 'The gateway failed. Try again.', { cause: error }),
          )
        }
      },
      cancel() {
        leave(options.client)
        end({ answer, error: undefined, aborted: true })
      },
    },
    { highWaterMark: 0 },
  )
}
