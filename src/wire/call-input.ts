// A call's arguments as the object that they must be wherever they are read.

import { isObject, type JsonObject } from '../ir/json.ts'
import { parseExact } from '../lib/json-exact.ts'

/** Free text and whatever is no object, as a model that broke off writes it, travel as the one member `input`. */
export const callInput = (kind: 'function' | 'custom', input: string): JsonObject => {
  if (kind === 'custom') return { input }
  if (input.trim() === '') return {}
  try {
    const value = parseExact(input)
    if (isObject(value)) return value
    // Languages without empty objects of their own write no arguments so.
    if (value === null || (Array.isArray(value) && value.length === 0)) return {}
  } catch {
    // The model's own malformed arguments: kept as text below.
  }
  return { input }
}
