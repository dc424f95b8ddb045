// What a provider answered with: its text within a bound, and the name in it made ours.

import type { JsonObject } from '../ir/json.ts'
import { splice } from '../lib/json-splice.ts'
import { malformedAnswer } from '../wire/pass.ts'
import { networkError } from './upstream.ts'

/** Error bodies of providers are small; nothing needs more of one. */
export const ERROR_BYTES = 256 * 1024

/** The largest answer held in memory as a whole. */
export const ANSWER_BYTES = 256 * 1024 * 1024

/** A body as text, within a bound. `heard` is called for each piece of one whose length is unknown. */
export const readText = async (
  response: Response,
  bytes: number,
  abort: AbortController,
  heard?: () => void,
): Promise<string> => {
  // A compressed body's length says nothing of what it unfolds to.
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

/** An answer that names a model, with the gateway's name for it. `body` is the text, parsed. */
export const renamed = (text: string, body: JsonObject, model: string): string =>
  body.model === undefined || body.model === model
    ? text
    : splice(text, [{ path: ['model'], value: JSON.stringify(model) }], body)
