// A request's body as bytes: complete, within the limit, and decompressed.

import { kMaxLength } from 'node:buffer'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'
import { GatewayError, invalidRequest, unavailable } from '../errors.ts'
import { free } from '../lib/memory.ts'

/** The slowest a client may send, on top of the fixed time: a body that trickles in must not hold a place for long. */
const MIN_BYTES_PER_MS = 16
/** Up to this declared size, in bytes, a body is read in one go, with the time for its whole size from the start. */
export const ONE_GO = 1024 * 1024
/** What is left of the fixed time while others need its place, and how fast one read in one go must come then. */
const HURRIED_MS = 1_000
const HURRIED_BYTES_PER_MS = 1024
/** How often it is looked at whether they do. */
const LOOK_EVERY_MS = 500

/** Told how many bytes are held of a body, as they come and decompressed; what it throws ends the reading. */
type Holding = (bytes: number) => void

/** `hurried`: whether others need its place by now. */
type Watching = { hurried?: () => boolean; holding?: Holding }

/**
 * Throws `payload_too_large` (by the declared size, or while reading or decompressing), and `invalid_request` for a body
 * that is not compressed as declared or does not arrive within `timeoutMs` and what its size takes at 16 KB a second.
 * `hurried`: whether others need its place; a body that comes slowly then is `service_unavailable`.
 */
export const readBody = async (
  request: Request,
  limitBytes: number,
  timeoutMs = 30_000,
  { hurried = () => false, holding = () => {} }: Watching = {},
): Promise<Uint8Array<ArrayBuffer>> => {
  const decompress = decompressorOf(request.headers)
  const declared = Number(request.headers.get('content-length') ?? Number.NaN)
  if (declared > limitBytes) throw tooLarge(limitBytes)
  const inOneGo = declared <= ONE_GO
  const seen = { bytes: inOneGo ? declared : 0 }
  const reading: Promise<ArrayBuffer | Uint8Array<ArrayBuffer>> = inOneGo
    ? request.arrayBuffer()
    : readCounted(request, { declared, limitBytes }, seen, holding)
  const allowedMs = (): number =>
    hurried()
      ? Math.min(HURRIED_MS, timeoutMs) + seen.bytes / (inOneGo ? HURRIED_BYTES_PER_MS : MIN_BYTES_PER_MS)
      : timeoutMs + seen.bytes / MIN_BYTES_PER_MS
  const read = await withinTime(reading, allowedMs, () => (hurried() ? busy() : lateBy(request)))
  const bytes = read instanceof ArrayBuffer ? new Uint8Array(read) : read
  if (bytes.byteLength > limitBytes) throw tooLarge(limitBytes)
  if (decompress === undefined) {
    holding(bytes.byteLength)
    return bytes
  }
  const most = expandable(bytes.byteLength, limitBytes)
  const unpacking = decompressed(decompress, bytes, limitBytes).finally(() => free(bytes))
  const whole = await unpacking.catch((error) => {
    if (error instanceof GatewayError && error.code === 'payload_too_large') holding(most)
    throw error
  })
  holding(whole.byteLength)
  return whole
}

type Decompress = (
  bytes: Uint8Array,
  options: { maxOutputLength: number },
  done: (error: Error | null, whole: Buffer<ArrayBuffer>) => void,
) => void

/** Agents compress long conversations as they would for their own vendor (Codex: zstd). */
const DECOMPRESSORS: ReadonlyMap<string, Decompress | undefined> = new Map<string, Decompress | undefined>([
  ['', undefined],
  ['identity', undefined],
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', brotliDecompress],
  ['zstd', zstdDecompress],
])

const codingOf = (headers: Headers): string => (headers.get('content-encoding') ?? '').trim().toLowerCase()

/** Whether a body is compressed. */
export const isCompressed = (headers: Headers): boolean => DECOMPRESSORS.get(codingOf(headers)) !== undefined

const decompressorOf = (headers: Headers): Decompress | undefined => {
  const name = codingOf(headers)
  if (DECOMPRESSORS.has(name)) return DECOMPRESSORS.get(name)
  throw invalidRequest(
    'Content-Encoding: expected one of gzip, deflate, br and zstd. Send the body packed in one of them, or plain.',
  )
}

/** So many times its own size a body may expand: conversations grow three to eight times. */
const MOST_EXPANSION = 100
/** Up to this size a body may expand whatever its own is. */
const ANY_EXPANSION_BYTES = 1024 * 1024

/** How large a body of so many bytes may be when it is decompressed. */
export const expandable = (bytes: number, limitBytes: number): number =>
  Math.min(limitBytes, Math.max(ANY_EXPANSION_BYTES, bytes * MOST_EXPANSION))

const decompressed = (
  decompress: Decompress,
  bytes: Uint8Array,
  limitBytes: number,
): Promise<Uint8Array<ArrayBuffer>> =>
  new Promise((resolve, reject) => {
    const most = expandable(bytes.byteLength, limitBytes)
    decompress(bytes, { maxOutputLength: Math.min(most, kMaxLength) }, (error, whole) => {
      if (error === null) resolve(whole)
      else if ('code' in error && error.code === 'ERR_BUFFER_TOO_LARGE')
        reject(most < limitBytes ? expandsTooFar() : tooLarge(limitBytes))
      else reject(invalidRequest('The body is not packed as its Content-Encoding says. Send the request again.'))
    })
  })

const busy = (): GatewayError => unavailable('is busy', { cause: 'descriptors' })

/** The runtime tells a client to send its body only where that is asked for in small letters; the JDK's asks otherwise. */
const lateBy = ({ headers }: Request): GatewayError => {
  const expects = headers.get('expect') ?? '100-continue'
  return invalidRequest(
    expects === '100-continue'
      ? 'The body did not arrive in time. Send the request again.'
      : 'The body did not arrive in time: of the header Expect only 100-continue in small letters is answered. Leave it out.',
  )
}

const withinTime = <T>(reading: Promise<T>, allowedMs: () => number, late: () => GatewayError): Promise<T> =>
  new Promise((resolve, reject) => {
    const begunAt = performance.now()
    const awaited = (now: number): number => {
      const left = begunAt + allowedMs() - now
      if (left <= 0) reject(late())
      return left
    }
    lookAfter(awaited, begunAt)
    reading.then(
      (bytes) => {
        AWAITED.delete(awaited)
        resolve(bytes)
      },
      (cause) => {
        AWAITED.delete(awaited)
        const isOurs = cause instanceof GatewayError
        reject(
          isOurs
            ? cause
            : new GatewayError('invalid_request', 'The body broke off. Send the request again.', { cause }),
        )
      },
    )
  })

/** Tells how many milliseconds a body has left, and ends the wait for it where that is none. */
type Awaited = (now: number) => number

/** The bodies that have not come whole, all looked after by one timer: nearly every one comes before it fires. */
const AWAITED = new Set<Awaited>()
let look: { timer: ReturnType<typeof setTimeout>; at: number } | undefined

const lookAfter = (awaited: Awaited, now: number): void => {
  const left = awaited(now)
  if (left <= 0) return
  AWAITED.add(awaited)
  lookWithin(left, now)
}

const lookWithin = (ms: number, now: number): void => {
  const delay = Math.min(Math.ceil(ms), LOOK_EVERY_MS)
  if (look !== undefined && look.at <= now + delay) return
  clearTimeout(look?.timer)
  look = { timer: setTimeout(lookAtAll, delay), at: now + delay }
  // It may be set for a body that has come long since.
  look.timer.unref()
}

const lookAtAll = (): void => {
  look = undefined
  const now = performance.now()
  for (const awaited of AWAITED) {
    const left = awaited(now)
    if (left > 0) lookWithin(left, now)
    else AWAITED.delete(awaited)
  }
}

/** Into memory of the declared size, of which what is not written is not there; in pieces where none is declared. */
const readCounted = async (
  request: Request,
  { declared, limitBytes }: { declared: number; limitBytes: number },
  seen: { bytes: number },
  holding: Holding,
): Promise<Uint8Array<ArrayBuffer>> => {
  if (request.body === null) return new Uint8Array()
  const pieces: Uint8Array[] = []
  const whole = declared > 0 ? new Uint8Array(declared) : undefined
  for await (const piece of request.body) {
    const at = seen.bytes
    seen.bytes += piece.byteLength
    if (seen.bytes > limitBytes) throw tooLarge(limitBytes)
    holding(seen.bytes)
    if (whole === undefined) pieces.push(piece)
    else {
      whole.set(piece, at)
      // Else all of them would stay until a collection, and the body be there twice.
      if (piece.byteLength === piece.buffer.byteLength) free(piece)
    }
  }
  return whole?.subarray(0, seen.bytes) ?? Buffer.concat(pieces)
}

const tooLarge = (limitBytes: number): GatewayError =>
  new GatewayError(
    'payload_too_large',
    `The request body is larger than the ${megabytes(limitBytes)} allowed. Send a smaller one.`,
  )

const expandsTooFar = (): GatewayError =>
  new GatewayError(
    'payload_too_large',
    `The request body expands to more than ${MOST_EXPANSION} times what was sent. Send it unpacked.`,
  )

const megabytes = (bytes: number): string =>
  bytes >= 1024 * 1024 ? `${Number((bytes / 1024 / 1024).toFixed(1))} MB` : `${Number((bytes / 1024).toFixed(1))} KB`
