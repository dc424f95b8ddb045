// A provider's answer as text, within a bound, and with the gateway's name for its model.

import type { JsonObject } from '../ir/json.ts'
import { splice } from '../lib/json-splice.ts'
import { malformedAnswer } from '../wire/pass.ts'
import { networkError } from './upstream.ts'

/** Error bodies of providers are small. */
export const ERROR_BYTES = 256 * 1024

/** The largest answer held in memory as a whole. */
export const ANSWER_BYTES = 256 * 1024 * 1024

/** A body as text. Throws GatewayError for one larger than `bytes`. `heard` is called for each chunk of unknown length. */
export const readText = async (
  response: Response,
  bytes: number,
  abort: AbortController,
  heard?: () => void,
): Promise<string> => {
  // The length of a compressed body says nothing about its text.
  const declared = Number(
    response.headers.has('content-encoding') ? Number.NaN : response.headers.get('content-length'),
  )
  try {
    if (declared > 0 && declared <= bytes) return await response.text()
    if (response.body === null) return ''
    const pieces: Uint8Array[] = []
    let size = 0
    for await (const piece of response.body) {
      heard?.()
      size += piece.byteLength
      if (size > bytes) {
        abort.abort()
        throw malformedAnswer()
      }
      pieces.push(piece)
    }
    return new TextDecoder().decode(Buffer.concat(pieces))
  } catch (error) {
    throw networkError(error, abort)
  }
}

/** The text with the gateway's name for its model. `body` is the text, parsed. */
export const withModelName = (text: string, body: JsonObject, model: string): string =>
  body.model === undefined || body.model === model
    ? text
    : splice(text, [{ path: ['model'], value: JSON.stringify(model) }], body)
