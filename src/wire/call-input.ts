// A call's arguments as an object, for wires and servers that require one.

import { isObject, type JsonObject } from '../ir/json.ts'
import { parseExact } from '../lib/json-exact.ts'

/** Free text, and arguments that are not a JSON object because the model broke off, become the one member `input`. */
export const callInput = (kind: 'function' | 'custom', input: string): JsonObject => {
  if (kind === 'custom') return { input }
  if (input.trim() === '') return {}
  try {
    const value = parseExact(input)
    if (isObject(value)) return value
    // Some languages write an empty object as `null` or `[]`.
    if (value === null || (Array.isArray(value) && value.length === 0)) return {}
  } catch {
    // Malformed arguments from the model: kept as text below.
  }
  return { input }
}
