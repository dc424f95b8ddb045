// A request's body as text: within the limit, whole, in UTF-8.

import { GatewayError, invalidRequest } from '../errors.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** The slowest a client may send, beside the time every client has: a body that trickles holds a place for nothing. */
const MIN_BYTES_PER_MS = 16

/**
 * Throws `payload_too_large` (declared or counted while reading), `invalid_json` for what is not UTF-8, and
 * `invalid_request` for a body that does not arrive: within `timeoutMs` and what its size takes at 16 KB a second.
 */
export const readBody = async (request: Request, limitBytes: number, timeoutMs = 30_000): Promise<string> => {
  const encoding = request.headers.get('content-encoding')
  if (encoding !== null && encoding !== 'identity') {
    throw new GatewayError('invalid_request', 'Send the body without Content-Encoding: compressed bodies are not read.')
  }
  const declared = request.headers.get('content-length')
  if (declared !== null && Number(declared) > limitBytes) throw tooLarge(limitBytes)
  // How far a declared body has come is not to be seen: it has the time of its whole size.
  const seen = { bytes: Number(declared ?? 0) }
  const reading: Promise<ArrayBuffer | Uint8Array> =
    declared === null ? readCounted(request, limitBytes, seen) : request.arrayBuffer()
  const bytes = await inTime(reading, () => timeoutMs + seen.bytes / MIN_BYTES_PER_MS)
  if (bytes.byteLength > limitBytes) throw tooLarge(limitBytes)
  try {
    return utf8.decode(bytes)
  } catch (error) {
    throw new GatewayError('invalid_json', 'The body is not valid UTF-8. Send JSON encoded as UTF-8.', { cause: error })
  }
}

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

const readCounted = async (request: Request, limitBytes: number, seen: { bytes: number }): Promise<Uint8Array> => {
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
