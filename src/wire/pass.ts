// What the wires share of letting bytes pass: tags of foreign thoughts, and the errors of streams.

import { GatewayError } from '../errors.ts'
import { isObject, type JsonObject } from '../ir/json.ts'
import { SEAL_PREFIX } from './seal.ts'

/** Whether a string is a thought of another wire, tagged on its way out. */
export const isForeign = (value: unknown): boolean => typeof value === 'string' && value.startsWith(SEAL_PREFIX)

/** A frame's data as an object; undefined when it is no JSON object. */
export const parseData = (data: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(data)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const malformed = (): GatewayError =>
  new GatewayError('upstream_error', 'The provider sent a malformed stream. Try again.')
