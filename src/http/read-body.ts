// A request's body as bytes: within the limit and whole, unpacked where the client packed it.

import { kMaxLength } from 'node:buffer'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'
import { GatewayError, invalidRequest } from '../errors.ts'

/** The slowest a client may send, beside the time every client has: a body that trickles holds a place for nothing. */
const MIN_BYTES_PER_MS = 16
/** Up to this size, in bytes, a body is read in one go, and has the time of its whole size from the start. */
const ONE_GO = 1024 * 1024

/**
 * Throws `payload_too_large` (declared, counted while reading or unpacking), and `invalid_request` for a body that is
 * not packed as it says or does not arrive: within `timeoutMs` and what its size takes at 16 KB a second.
 */
export const readBody = async (
  request: Request,
  limitBytes: number,
  timeoutMs = 30_000,
): Promise<Uint8Array<ArrayBuffer>> => {
  const unpack = unpackerOf(request.headers)
  const declared = Number(request.headers.get('content-length') ?? Number.NaN)
  if (declared > limitBytes) throw tooLarge(limitBytes)
  const inOneGo = declared <= ONE_GO
  const seen = { bytes: inOneGo ? declared : 0 }
  const reading: Promise<ArrayBuffer | Uint8Array<ArrayBuffer>> = inOneGo
    ? request.arrayBuffer()
    : readCounted(request, limitBytes, seen)
  const read = await inTime(reading, () => timeoutMs + seen.bytes / MIN_BYTES_PER_MS)
  const bytes = read instanceof ArrayBuffer ? new Uint8Array(read) : read
  if (bytes.byteLength > limitBytes) throw tooLarge(limitBytes)
  return unpack === undefined ? bytes : await unpacked(unpack, bytes, limitBytes)
}

type Unpack = (
  bytes: Uint8Array,
  options: { maxOutputLength: number },
  done: (error: Error | null, whole: Buffer<ArrayBuffer>) => void,
) => void

/** Agents pack long conversations as they would for their own vendor (Codex: zstd). */
const UNPACKERS: ReadonlyMap<string, Unpack | undefined> = new Map<string, Unpack | undefined>([
  ['', undefined],
  ['identity', undefined],
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', brotliDecompress],
  ['zstd', zstdDecompress],
])

const codingOf = (headers: Headers): string => (headers.get('content-encoding') ?? '').trim().toLowerCase()

/** Whether a body is going to be unpacked. */
export const isPacked = (headers: Headers): boolean => UNPACKERS.get(codingOf(headers)) !== undefined

const unpackerOf = (headers: Headers): Unpack | undefined => {
  const name = codingOf(headers)
  if (UNPACKERS.has(name)) return UNPACKERS.get(name)
  throw invalidRequest(
    'Content-Encoding: expected one of gzip, deflate, br and zstd. Send the body packed in one of them, or plain.',
  )
}

/** Unpacks no further than the limit: a small body may unfold to any size. */
const unpacked = (unpack: Unpack, bytes: Uint8Array, limitBytes: number): Promise<Uint8Array<ArrayBuffer>> =>
  new Promise((resolve, reject) =>
    unpack(bytes, { maxOutputLength: Math.min(limitBytes, kMaxLength) }, (error, whole) => {
      if (error === null) resolve(whole)
      else if ('code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') reject(tooLarge(limitBytes))
      else reject(invalidRequest('The body is not packed as its Content-Encoding says. Send the request again.'))
    }),
  )

const inTime = async <T>(reading: Promise<T>, allowedMs: () => number): Promise<T> => {
  const begunAt = performance.now()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    const look = (): void => {
      const left = begunAt + allowedMs() - performance.now()
      if (left > 0) timer = setTimeout(look, Math.ceil(left))
      else reject(invalidRequest('The body did not arrive in time. Send the request again.'))
    }
    look()
  })
  try {
    return await Promise.race([reading, late])
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause
    throw new GatewayError('invalid_request', 'The body broke off. Send the request again.', { cause })
  } finally {
    clearTimeout(timer)
  }
}

const readCounted = async (
  request: Request,
  limitBytes: number,
  seen: { bytes: number },
): Promise<Uint8Array<ArrayBuffer>> => {
  if (request.body === null) return new Uint8Array()
  const pieces: Uint8Array[] = []
  for await (const piece of request.body) {
    seen.bytes += piece.byteLength
    if (seen.bytes > limitBytes) throw tooLarge(limitBytes)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

const tooLarge = (limitBytes: number): GatewayError =>
  new GatewayError(
    'payload_too_large',
    `The request body is larger than the ${megabytes(limitBytes)} allowed. Send a smaller one.`,
  )

const megabytes = (bytes: number): string =>
  bytes >= 1024 * 1024 ? `${Number((bytes / 1024 / 1024).toFixed(1))} MB` : `${Number((bytes / 1024).toFixed(1))} KB`
