// A provider's answer as it is read: decompressed, as text within a bound, and with the gateway's name for its model.

import { type JsonObject, parseObject } from '../ir/json.ts'
import { READ_BYTES, readInTurns } from '../lib/json-reader.ts'
import { type Edit, splice } from '../lib/json-splice.ts'
import { type Allowance, type Read, TooMuchJson } from '../lib/json-survey.ts'
import type { Turns } from '../lib/turns.ts'
import { malformedAnswer } from '../wire/pass.ts'
import { holdIn, type Room } from './room.ts'
import { joined, type Reader, rejoined } from './source.ts'
import { isClosed, networkError } from './upstream.ts'

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
export const answerBody = async ({ headers, body }: Response, abort: AbortController): Promise<Reader | null> => {
  if (body === null) return null
  const reader = body.getReader()
  const first = await firstBytes(reader, headers, abort)
  const format = formatOf(first, headers)
  if (format === undefined) return rejoined(first, reader)
  return joined(first, reader).pipeThrough(new DecompressionStream(format)).getReader()
}

/** As many as it takes to tell how the body is packed; undefined for an empty one. */
const firstBytes = async (
  reader: Reader<Uint8Array<ArrayBuffer>>,
  headers: Headers,
  abort: AbortController,
): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  let first: Uint8Array<ArrayBuffer> | undefined
  for (;;) {
    const { value } = await reader.read().catch((error) => {
      throw networkError(error, abort)
    })
    if (value === undefined) return first
    first = first === undefined ? value : Buffer.concat([first, value])
    const mayBePacked = namedFormat(headers) !== undefined || MAGIC.some(([, [byte]]) => byte === first?.[0])
    if (!mayBePacked || first.byteLength >= TEXT_BYTES) return first
  }
}

/** The first bytes outweigh the header: caches lose it, and relays that have decompressed an answer leave it there. */
const formatOf = (first: Uint8Array | undefined, headers: Headers): Bun.CompressionFormat | undefined => {
  const shown =
    first === undefined ? undefined : MAGIC.find(([, bytes]) => bytes.every((byte, at) => first[at] === byte))
  if (shown !== undefined) return shown[0]
  const named = namedFormat(headers)
  if (named === undefined || isText(first)) return undefined
  // Servers mean either by `deflate`: with the header of zlib, which begins with the method, or without.
  return named === 'deflate' && ((first?.[0] ?? 0) & 15) !== 8 ? 'deflate-raw' : named
}

const namedFormat = (headers: Headers): Bun.CompressionFormat | undefined =>
  FORMATS.get((headers.get('content-encoding') ?? '').trim().toLowerCase())

/** How compressed bodies begin, and no text. */
const MAGIC: readonly (readonly [Bun.CompressionFormat, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
]

/** So many bytes are not text by chance. */
const TEXT_BYTES = 12

const isText = (first: Uint8Array | undefined): boolean =>
  first !== undefined &&
  first.byteLength >= TEXT_BYTES &&
  first.subarray(0, TEXT_BYTES).every((byte) => (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d)

type ReadOptions = {
  /** Called for each chunk of a body of unknown length. */
  heard?: () => void
  /** Absent for what is small. */
  room?: Room
  /** What it is surveyed in, where it is JSON: `parseJson` need not do that again. Absent for what is small. */
  turns?: Turns
  /** What that may hold beyond the bounds of all. */
  allowed?: Allowance | undefined
}

const ENDED = { done: true, value: undefined } as const

/** How JSON may begin, by its first bytes: other text, such as an event stream's, is bounded frame by frame. */
const JSON_BEGINS = /^(?:\s|ï»¿)*(?:[[{"]|$)/
const BEGINNING = 64

/** What has come: its bytes, and what is known of large JSON. */
export type Received = { bytes: Uint8Array<ArrayBuffer>; read?: Read }

/** Throws GatewayError for JSON that holds more than it may. */
const surveyed = async (
  bytes: Uint8Array<ArrayBuffer>,
  { turns, allowed }: Pick<ReadOptions, 'turns' | 'allowed'>,
): Promise<Received> => {
  const isLarge = turns !== undefined && bytes.byteLength >= READ_BYTES
  if (!isLarge || !JSON_BEGINS.test(Buffer.from(bytes.subarray(0, BEGINNING)).toString('latin1'))) return { bytes }
  try {
    return { bytes, read: await readInTurns(bytes, turns, { outlined: false, allowed }) }
  } catch (error) {
    throw error instanceof TooMuchJson ? malformedAnswer(error) : error
  }
}

export const textOf = ({ bytes }: Received): string => utf8.decode(bytes)

const utf8 = new TextDecoder()

/** A body as text. Throws as `receive` does. */
export const readText = async (...received: Parameters<typeof receive>): Promise<string> =>
  textOf(await receive(...received))

/**
 * A body. Throws GatewayError for one larger than `bytes`, for one that there is no room for, and for JSON that holds
 * more than it may.
 */
export const receive = async (
  response: Response,
  bytes: number,
  abort: AbortController,
  options: ReadOptions = {},
): Promise<Received> => {
  const { heard, room, turns } = options
  const hold = room === undefined ? undefined : holdIn(room, abort)
  // The length of a compressed body says nothing about its text.
  const declared = Number(
    response.headers.has('content-encoding') ? Number.NaN : response.headers.get('content-length'),
  )
  try {
    if (declared > 0 && declared <= bytes) {
      hold?.bytes(declared)
      const whole = new Uint8Array(await response.arrayBuffer())
      if (formatOf(whole, response.headers) === undefined) return await surveyed(whole, options)
      return await receive(new Response(new Blob([whole]).stream()), bytes, abort, options)
    }
    const body = await answerBody(response, abort)
    if (body === null) return { bytes: new Uint8Array() }
    const pieces: Uint8Array[] = []
    let size = 0
    let closed: unknown
    for (;;) {
      const { done, value: piece } = await body.read().catch((error) => {
        if (abort.signal.aborted || !isClosed(error)) throw error
        closed = error
        return ENDED
      })
      if (done) break
      heard?.()
      size += piece.byteLength
      if (size > bytes) {
        abort.abort()
        throw malformedAnswer()
      }
      hold?.bytes(size)
      pieces.push(piece)
    }
    const received = await surveyed(Buffer.concat(pieces), options)
    // Some servers close the connection without ending the body: an object that is closed is whole.
    if (closed !== undefined && parseObject(textOf(received), turns !== undefined) === undefined) throw closed
    return received
  } catch (error) {
    throw networkError(error, abort)
  } finally {
    hold?.end()
  }
}

/** The text with the gateway's name for its model, and with what else must be told in other words. `body` is the text, parsed. */
export const withModelName = (text: string, body: JsonObject, model: string, others: readonly Edit[] = []): string => {
  const isNamed = body.model === undefined || body.model === model
  const edits = isNamed ? others : [...others, { path: ['model'], value: JSON.stringify(model) }]
  return edits.length === 0 ? text : splice(text, edits, body)
}
