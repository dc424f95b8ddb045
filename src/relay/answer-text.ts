// A provider's answer as it is read: decompressed, as text within a bound, and with the gateway's name for its model.

import type { JsonObject } from '../ir/json.ts'
import { splice } from '../lib/json-splice.ts'
import { malformedAnswer } from '../wire/pass.ts'
import { holdIn, type Room } from './room.ts'
import { joined } from './source.ts'
import { networkError } from './upstream.ts'

/** Error bodies of providers are small. */
export const ERROR_BYTES = 256 * 1024

/** The largest answer held in memory as a whole. */
export const ANSWER_BYTES = 256 * 1024 * 1024

/** What `Content-Encoding` names. */
const FORMATS: ReadonlyMap<string, Bun.CompressionFormat> = new Map<string, Bun.CompressionFormat>([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'brotli'],
  ['zstd', 'zstd'],
])

/**
 * The body of a response, decompressed as it is read: some servers compress without being asked. The runtime would
 * decompress all that has come at once, and a few kilobytes may expand to gigabytes.
 */
export const answerBody = async (
  { headers, body }: Response,
  abort: AbortController,
): Promise<ReadableStream<Uint8Array> | null> => {
  const format = FORMATS.get((headers.get('content-encoding') ?? '').trim().toLowerCase())
  if (body === null || format === undefined) return body
  if (format !== 'deflate') return body.pipeThrough(new DecompressionStream(format))
  const reader = body.getReader()
  const { value } = await reader.read().catch((error) => {
    throw networkError(error, abort)
  })
  return joined(value, reader).pipeThrough(new DecompressionStream(isZlib(value) ? 'deflate' : 'deflate-raw'))
}

/** Servers mean either by `deflate`: with the header of zlib, which begins with the method, or without. */
const isZlib = (first: Uint8Array | undefined): boolean => ((first?.[0] ?? 0) & 15) === 8

export type ReadOptions = {
  /** Called for each chunk of a body of unknown length. */
  heard?: () => void
  /** Absent for what is small. */
  room?: Room
}

/** A body as text. Throws GatewayError for one larger than `bytes`, and for one that there is no room for. */
export const readText = async (
  response: Response,
  bytes: number,
  abort: AbortController,
  { heard, room }: ReadOptions = {},
): Promise<string> => {
  const hold = room === undefined ? undefined : holdIn(room, abort)
  // The length of a compressed body says nothing about its text.
  const declared = Number(
    response.headers.has('content-encoding') ? Number.NaN : response.headers.get('content-length'),
  )
  try {
    if (declared > 0 && declared <= bytes) {
      hold?.bytes(declared)
      return await response.text()
    }
    const body = await answerBody(response, abort)
    if (body === null) return ''
    const pieces: Uint8Array[] = []
    let size = 0
    for await (const piece of body) {
      heard?.()
      size += piece.byteLength
      if (size > bytes) {
        abort.abort()
        throw malformedAnswer()
      }
      hold?.bytes(size)
      pieces.push(piece)
    }
    return new TextDecoder().decode(Buffer.concat(pieces))
  } catch (error) {
    throw networkError(error, abort)
  } finally {
    hold?.end()
  }
}

/** The text with the gateway's name for its model. `body` is the text, parsed. */
export const withModelName = (text: string, body: JsonObject, model: string): string =>
  body.model === undefined || body.model === model
    ? text
    : splice(text, [{ path: ['model'], value: JSON.stringify(model) }], body)
