// Streams as a client reads them, on raw keep-alive sockets. An answer counts when its body ended as HTTP says, weighs
// what it must and closes with the wire's own last words; anything else fails the run.

import type { Socket } from 'bun'
import { createMessageReader } from './http-message.ts'
import type { Ask, Completeness, Delays, Load } from './job.ts'

type Reading = { status(head: string): void; body(bytes: Buffer): void; end(): void }
type Outgoing = { unsent: Buffer }

const TAIL_BYTES = 64
const DRAIN_MS = 10_000
const OPEN_MS = 10_000
/** Opening many streams at once is a burst of its own: what it left behind is past by then. */
const SETTLE_MS = 500
const CLOSING = /^connection: close/im

/** The bytes of a request, head and body. */
const requestBytes = (ask: Ask): Buffer => {
  const fields = { host: `127.0.0.1:${ask.port}`, 'content-type': 'application/json', ...ask.headers }
  const head = Object.entries({ ...fields, 'content-length': Buffer.byteLength(ask.body) })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  return Buffer.from(`POST ${ask.path} HTTP/1.1\r\n${head}\r\n${ask.body}`)
}

/** Opens one connection. `lost` is told when it goes away or says something that is not HTTP. */
const connect = async (port: number, reading: Reading, lost: (why: string) => void) => {
  const reader = createMessageReader({ head: reading.status, body: reading.body, end: reading.end })
  const flush = (socket: Socket<Outgoing>): void => {
    const { data } = socket
    if (data.unsent.length > 0) data.unsent = data.unsent.subarray(Math.max(0, socket.write(data.unsent)))
  }
  const socket = await Bun.connect<Outgoing>({
    hostname: '127.0.0.1',
    port,
    data: { unsent: Buffer.alloc(0) },
    socket: {
      data(_socket, bytes) {
        try {
          reader.push(bytes)
        } catch (error) {
          lost(String(error))
        }
      },
      drain: flush,
      close: () => lost('the connection was closed'),
      error: (_socket, error) => lost(error.message),
    },
  })
  return {
    send(bytes: Buffer) {
      socket.data.unsent = bytes
      flush(socket)
    },
    close: () => socket.terminate(),
  }
}

const microseconds = (): number => Bun.nanoseconds() / 1000
export const quantile = (sorted: number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0
export const ascending = (values: number[]): number[] => values.sort((a, b) => a - b)

const refuse = (head: string): string | undefined =>
  head.startsWith('HTTP/1.1 200 ') ? undefined : `200 expected, found ${head.slice(0, 400)}`

/** Whole answers, one after the other on each connection, for `windowMs`; those under way at its end are read out. */
export const readStreams = (ask: Ask, connections: number, windowMs: number, complete: Completeness): Promise<Load> =>
  new Promise((resolve, reject) => {
    const request = requestBytes(ask)
    const times: number[] = []
    const load = { answers: 0, bytes: 0 }
    const open: { close(): void }[] = []
    let closing = false
    let busy = connections
    const began = microseconds()
    const deadline = began + windowMs * 1000

    const finish = (error?: Error): void => {
      if (closing) return
      closing = true
      clearTimeout(timer)
      for (const connection of open) connection.close()
      if (error) reject(error)
      else {
        ascending(times)
        resolve({ ...load, elapsedMs: windowMs, p50Us: quantile(times, 0.5), p99Us: quantile(times, 0.99) })
      }
    }
    const fail = (why: string): void => finish(new Error(`${ask.path}: ${why}`))
    const timer = setTimeout(() => fail('answers did not end in time'), windowMs + DRAIN_MS)

    const start = async (): Promise<void> => {
      let bytes = 0
      let tail = ''
      let sent = 0
      // A server may end a connection with an answer: the next one is asked for on another.
      let last = false
      let over = false
      const next = (): void => {
        if (over) {
          connection.close()
          start().catch((error) => fail(String(error)))
          return
        }
        bytes = 0
        tail = ''
        sent = microseconds()
        connection.send(request)
      }
      const connection = await connect(
        ask.port,
        {
          status(head) {
            const why = refuse(head)
            if (why) fail(why)
            last = CLOSING.test(head)
          },
          body(piece) {
            bytes += piece.length
            tail = (tail + piece.toString('latin1', Math.max(0, piece.length - TAIL_BYTES))).slice(-TAIL_BYTES)
          },
          end() {
            if (bytes < complete.bytes || !tail.trimEnd().endsWith(complete.tail)) {
              return fail(`incomplete answer: ${bytes} bytes ending in ${JSON.stringify(tail)}`)
            }
            over = last
            const now = microseconds()
            if (now <= deadline) {
              load.answers += 1
              load.bytes += bytes
              times.push(now - sent)
              return next()
            }
            busy -= 1
            if (busy === 0) finish()
          },
        },
        (why) => over || fail(why),
      )
      open.push(connection)
      next()
    }
    for (let n = 0; n < connections; n++) start().catch((error) => fail(String(error)))
  })

/**
 * Opens streams and leaves them open; resolves when each has sent its first body byte, rejects when some do not.
 * `lost`: why a stream has ended since.
 */
export const holdStreams = async (
  ask: Ask,
  streams: number,
  onBody: (bytes: Buffer) => void = () => {},
): Promise<{ close(): void; lost: string[] }> => {
  const request = requestBytes(ask)
  const connections: { close(): void }[] = []
  let closing = false
  let begunCount = 0
  const lost: string[] = []
  const close = (): void => {
    closing = true
    for (const connection of connections) connection.close()
  }
  const opening = Promise.all(
    Array.from({ length: streams }, async () => {
      const begun = Promise.withResolvers<void>()
      const stop = (why: string): void => {
        if (closing) return
        lost.push(why)
        begun.reject(new Error(`${ask.path}: ${why}`))
      }
      const connection = await connect(
        ask.port,
        {
          status(head) {
            const why = refuse(head)
            if (why) stop(why)
          },
          body(bytes) {
            begun.resolve()
            onBody(bytes)
          },
          end: () => stop('the stream ended'),
        },
        stop,
      )
      connections.push(connection)
      connection.send(request)
      await begun.promise
      begunCount += 1
    }),
  )
  const late = Bun.sleep(OPEN_MS).then(() => {
    throw new Error(`${ask.path}: ${begunCount} of ${streams} streams began within ${OPEN_MS / 1000} s`)
  })
  try {
    await Promise.race([opening, late])
  } catch (error) {
    close()
    throw error
  } finally {
    late.catch(() => {})
    opening.catch(() => {})
  }
  return { close, lost }
}

/** Reads write times (`@` and 16 digits of monotonic nanoseconds) out of paced streams for `windowMs`. */
export const readDelays = async (ask: Ask, connections: number, windowMs: number): Promise<Delays> => {
  const delays: number[] = []
  let measuring = false
  const held = await holdStreams(ask, connections, (bytes) => {
    if (!measuring) return
    const now = process.hrtime.bigint()
    for (const [, written = ''] of bytes.toString('latin1').matchAll(/@(\d{16})/g)) {
      delays.push(Number(now - BigInt(written)) / 1000)
    }
  })
  await Bun.sleep(SETTLE_MS)
  measuring = true
  await Bun.sleep(windowMs)
  held.close()
  const [why] = held.lost
  if (why !== undefined) throw new Error(`${ask.path}: ${held.lost.length} of ${connections} streams were lost: ${why}`)
  ascending(delays)
  return { events: delays.length, p50Us: quantile(delays, 0.5), p99Us: quantile(delays, 0.99) }
}
