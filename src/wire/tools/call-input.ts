// A call's arguments as an object, for wires and servers that require one.

import { isObject, type JsonObject } from '../../ir/json.ts'
import { isWhole } from '../../ir/whole.ts'
import { parseExact } from '../../lib/json-exact.ts'

/** Free text, and arguments that are not a JSON object because the model broke off, become the one member `input`. */
export const callInput = (kind: 'function' | 'custom', input: string): JsonObject => {
  if (kind === 'custom') return { input }
  if (isEmptyInput(input)) return {}
  try {
    const value = parseExact(input)
    if (isObject(value)) return value
  } catch {
    // Malformed arguments from the model: kept as text below.
  }
  return { input }
}

/**
 * A past call's arguments as the text of an object, as they are where they are one: some servers parse them, and refuse the
 * whole conversation where the model broke off.
 */
export const objectInput = (input: string): string =>
  !isEmptyInput(input) && isWhole(input) ? input : JSON.stringify(callInput('function', input))

/** Whether a function has no arguments: some languages write an empty object as `null` or `[]`. */
export const isEmptyInput = (input: string): boolean => {
  const written = input.trim()
  return written === '' || written === 'null' || /^\[\s*\]$/.test(written)
}
