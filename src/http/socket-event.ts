// An event of a WebSocket as the body of a request: a long one is read where its bytes stand.

import { GatewayError, invalidRequest } from '../errors.ts'
import type { JsonObject } from '../ir/json.ts'
import { READ_BYTES } from '../lib/json-reader.ts'
import { PART_BYTES, Pieces, type Sent } from '../lib/pieces.ts'
import type { Turns } from '../lib/turns.ts'
import { type ClientBody, openText } from '../relay/client-body.ts'
import { openBody } from '../relay/large-body.ts'
import { ONE_GO } from './read-body.ts'

/** Nothing is built of a long one. Throws GatewayError for what is no JSON, or holds more than it may. */
export const openEvent = async (text: string, turns: Turns): Promise<ClientBody> => {
  try {
    if (text.length < READ_BYTES) return openText(text)
    const bytes = await turns(text.length, () => utf8.encode(text))
    return await openBody(bytes, () => false, turns)
  } catch (cause) {
    if (cause instanceof GatewayError && cause.code === 'invalid_json') throw notJson(cause)
    // Whoever sends an event knows of no body.
    throw OBJECT.test(text) ? cause : invalidRequest('An event must be a JSON object.')
  }
}
const OBJECT = /^\s*\{/
const utf8 = new TextEncoder()

const notJson = (cause: GatewayError): GatewayError =>
  new GatewayError('invalid_json', 'The event is not valid JSON. Check it for a cut end, stray commas and quotes.', {
    cause,
  })

/** Of a long one only the beginnings of long texts are in its outline. */
export const eventOf = ({ outline, member }: ClientBody): JsonObject => ({
  ...outline,
  ...(outline.stream_id === undefined ? {} : { stream_id: member('stream_id') }),
  ...(outline.response_id === undefined ? {} : { response_id: member('response_id') }),
})

export const piecesOf = (sent: Sent): readonly Uint8Array[] => {
  if (sent instanceof Pieces) return sent.all
  return [typeof sent === 'string' ? utf8.encode(sent) : sent]
}

/**
 * The body of a request of so many bytes. A large one is read a part at a time, each copied before the next is asked for: `read` is
 * called behind the last. A small one is read in one go, by whoever holds its parts until then, and so is copied here.
 */
export const requestBody = (
  pieces: readonly Uint8Array[],
  bytes: number,
  read: () => void,
): ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> => {
  if (bytes <= ONE_GO) return Buffer.concat(pieces)
  const parts = partsOf(pieces)
  return new ReadableStream(
    {
      pull(controller) {
        const { done, value } = parts.next()
        if (done !== true) return controller.enqueue(value)
        controller.close()
        read()
      },
    },
    // Only what is asked for is given.
    { highWaterMark: 0 },
  )
}

function* partsOf(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const piece of pieces)
    for (let at = 0; at < piece.byteLength; at += PART_BYTES) yield piece.subarray(at, at + PART_BYTES)
}
