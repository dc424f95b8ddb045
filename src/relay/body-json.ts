// A body's bytes as text and as JSON, and what is said of one that is neither.

import { GatewayError, invalidRequest } from '../errors.ts'
import { isObject, type JsonObject } from '../ir/json.ts'
import type { Steps } from '../lib/steps.ts'

/** Throws `invalid_json` for what is not UTF-8. */
export const bodyText = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch (error) {
    throw notUtf8(error)
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** The first byte of a byte order mark. */
export const BOM = 0xef

export const objectIn = (text: string): JsonObject => asObject(parsed(() => JSON.parse(text)))

export const asObject = (value: unknown): JsonObject => {
  if (!isObject(value)) throw invalidRequest('The body must be a JSON object.')
  return value
}

const parsed = <T>(parse: () => T): T => {
  try {
    return parse()
  } catch (cause) {
    throw notJson(cause)
  }
}

export function* parsing<T>(steps: Steps<T>): Steps<T> {
  try {
    return yield* steps
  } catch (cause) {
    throw notJson(cause)
  }
}

const notJson = (cause: unknown): GatewayError =>
  new GatewayError('invalid_json', 'The body is not valid JSON. Check it for a cut end, stray commas and quotes.', {
    cause,
  })

export const notUtf8 = (cause?: unknown): GatewayError =>
  new GatewayError('invalid_json', 'The body is not valid UTF-8. Send JSON encoded as UTF-8.', { cause })

/** The error for a body nested deeper than any real one. */
export const tooDeep = (cause: unknown): GatewayError =>
  new GatewayError('invalid_request', 'The request is nested too deeply. Flatten it.', { cause })

// Checking and translating recurse as deeply as measuring: a body that overflows the stack here is refused.
export const measured = <T>(measure: () => T): T => {
  try {
    return measure()
  } catch (cause) {
    throw tooDeep(cause)
  }
}
