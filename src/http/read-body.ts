// A request's body as text: within the limit, whole, in UTF-8.

import { GatewayError } from '../errors.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Throws `payload_too_large` (declared or counted while reading), `invalid_json` for what is not UTF-8. */
export const readBody = async (request: Request, limitBytes: number): Promise<string> => {
  const encoding = request.headers.get('content-encoding')
  if (encoding !== null && encoding !== 'identity') {
    throw new GatewayError('invalid_request', 'Send the body without Content-Encoding: compressed bodies are not read.')
  }
  const declared = request.headers.get('content-length')
  if (declared !== null && Number(declared) > limitBytes) throw tooLarge(limitBytes)
  const bytes = declared === null ? await readCounted(request, limitBytes) : new Uint8Array(await request.arrayBuffer())
  if (bytes.byteLength > limitBytes) throw tooLarge(limitBytes)
  try {
    return utf8.decode(bytes)
  } catch (error) {
    throw new GatewayError('invalid_json', 'The body is not valid UTF-8. Send JSON encoded as UTF-8.', { cause: error })
  }
}

const readCounted = async (request: Request, limitBytes: number): Promise<Uint8Array> => {
  if (request.body === null) return new Uint8Array()
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of request.body) {
    size += piece.byteLength
    if (size > limitBytes) throw tooLarge(limitBytes)
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
