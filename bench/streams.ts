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
const quantile = (sorted: number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0
const ascending = (values: number[]): number[] => values.sort((a, b) => a - b)

const refuse = (head: string): string | undefined =>
  head.startsWith('HTTP/1.1 200 ') ? undefined : `200 expected, found ${head.slice(0, 400)}`

type Asker = { ask(): void; close(): void }
type Heard = { answered(bytes: number, tookUs: number, by: Asker): void; failed(why: string): void }

/** Asks for one whole answer at a time on a connection of its own, or on another where the server ended that with an answer. */
const openAsker = async (ask: Ask, complete: Completeness, { answered, failed }: Heard): Promise<Asker> => {
  const request = requestBytes(ask)
  const fail = (why: string): void => failed(`${ask.path}: ${why}`)
  const open = async () => {
    let bytes = 0
    let tail = ''
    let last = false
    const reading: Reading = {
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
        const found = { bytes, tail }
        bytes = 0
        tail = ''
        if (found.bytes < complete.bytes || !found.tail.trimEnd().endsWith(complete.tail))
          return fail(`incomplete answer: ${found.bytes} bytes ending in ${JSON.stringify(found.tail)}`)
        if (last) connection.isOver = true
        answered(found.bytes, microseconds() - sent, asker)
      },
    }
    const to = await connect(ask.port, reading, (why) => connection.isOver || fail(why))
    const connection = { ...to, isOver: false }
    return connection
  }
  let sent = 0
  let current = await open()
  const asker: Asker = {
    ask() {
      sent = microseconds()
      if (!current.isOver) return current.send(request)
      current.close()
      open().then(
        (opened) => {
          current = opened
          current.send(request)
        },
        (error) => fail(String(error)),
      )
    },
    close() {
      current.isOver = true
      current.close()
    },
  }
  return asker
}

/** `begin` is given what notes answers and failures; resolves once it has ended. Times are of answers that came by the deadline. */
const answersWithin = (
  windowMs: number,
  begin: (noting: { note(bytes: number, tookUs: number): void; end(error?: Error): void; open: Asker[] }) => void,
): Promise<Load> =>
  new Promise((resolve, reject) => {
    const times: number[] = []
    const open: Asker[] = []
    let bytes = 0
    let isOver = false
    const end = (error?: Error): void => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      for (const asker of open) asker.close()
      ascending(times)
      const quantiles = { p50Us: quantile(times, 0.5), p99Us: quantile(times, 0.99) }
      if (error) reject(error)
      else resolve({ answers: times.length, bytes, elapsedMs: windowMs, ...quantiles })
    }
    const timer = setTimeout(() => end(new Error('answers did not end in time')), windowMs + DRAIN_MS)
    const note = (more: number, tookUs: number): void => {
      bytes += more
      times.push(tookUs)
    }
    begin({ note, end, open })
  })

/** Whole answers, one after the other on each connection, for `windowMs`; those under way at its end are read out. */
export const readStreams = (ask: Ask, connections: number, windowMs: number, complete: Completeness): Promise<Load> =>
  answersWithin(windowMs, ({ note, end, open }) => {
    const deadline = microseconds() + windowMs * 1000
    let busy = connections
    const failed = (why: string): void => end(new Error(why))
    const answered: Heard['answered'] = (bytes, tookUs, by) => {
      if (microseconds() <= deadline) {
        note(bytes, tookUs)
        return by.ask()
      }
      busy -= 1
      if (busy === 0) end()
    }
    const start = async (): Promise<void> => {
      const asker = await openAsker(ask, complete, { answered, failed })
      open.push(asker)
      asker.ask()
    }
    for (let n = 0; n < connections; n++) start().catch((error) => failed(String(error)))
  })

const TICK_MS = 1

/** So many whole answers a second, however many are under way; what is asked for in the window is read to its end. */
export const readSteady = (ask: Ask, perSecond: number, windowMs: number, complete: Completeness): Promise<Load> =>
  answersWithin(windowMs, ({ note, end, open }) => {
    const idle: Asker[] = []
    const began = performance.now()
    let asked = 0
    let busy = 0
    let isDone = false
    const failed = (why: string): void => end(new Error(why))
    const ended = (): void => {
      busy -= 1
      if (isDone && busy === 0) end()
    }
    const answered: Heard['answered'] = (bytes, tookUs, by) => {
      note(bytes, tookUs)
      idle.push(by)
      ended()
    }
    const one = async (): Promise<void> => {
      busy += 1
      let asker = idle.pop()
      if (asker === undefined) {
        asker = await openAsker(ask, complete, { answered, failed })
        open.push(asker)
      }
      asker.ask()
    }
    const ticking = setInterval(() => {
      const elapsed = performance.now() - began
      for (const due = Math.floor((Math.min(elapsed, windowMs) / 1000) * perSecond); asked < due; asked++)
        one().catch((error) => failed(String(error)))
      if (elapsed < windowMs) return
      clearInterval(ticking)
      isDone = true
      if (busy === 0) end()
    }, TICK_MS)
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
