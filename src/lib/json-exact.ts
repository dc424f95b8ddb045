// JSON in which integers too large for a number stay as written: ids in a tool's arguments must not change.

import { parseBounded, READ_BYTES, requireBounds } from './json-reader.ts'
import { isDeep } from './json-scan.ts'

type Source = { source?: string }
// Not in TypeScript's library yet: a value that `JSON.stringify` writes as this text.
const { rawJSON, isRawJSON } = JSON as typeof JSON & {
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
}

/** From the first of a run of digits only: from each of them, it would take sixteen times as long. */
const LARGE = /(?<!\d)\d{16}/
const INTEGER = /^-?\d+$/

/**
 * `JSON.parse`, but integers that a number cannot represent become values that `JSON.stringify` writes unchanged. A text
 * that is one such integer is read as a number: those values are objects, and callers ask whether they were given one. Throws
 * a RangeError for what is nested too deeply to be written again, or holds more than it may.
 */
export const parseExact = (text: string): unknown => {
  requireShallow(text)
  if (!LARGE.test(text) || INTEGER.test(text.trim())) return parseBounded(text)
  requireBounds(text)
  return withSources(text)
}

const withSources = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown, context?: Source) => {
    const source = context?.source
    const lost = typeof value === 'number' && source !== undefined && String(value) !== source
    return lost && INTEGER.test(source) ? rawJSON(source) : value
  })

const requireShallow = (text: string): void => {
  if (text.length < READ_BYTES && isDeep(text)) throw new RangeError('The JSON is nested too deeply.')
}

/** Whether a value is such an integer or any other number. */
export const isExactNumber = (value: unknown): boolean => typeof value === 'number' || isRawJSON(value)

/**
 * `parsed` with the exact integers of the text it was parsed from, but for the members of the outermost object itself,
 * which are read as numbers. The same object where nothing is lost. Throws like `parseExact`, but where a text is long enough
 * to be surveyed, that has been done.
 */
export const withExact = <T extends { [name: string]: unknown }>(text: string, parsed: T): T => {
  requireShallow(text)
  if (!LARGE.test(text)) return parsed
  const exact = withSources(text) as T
  for (const name in parsed) if (typeof parsed[name] === 'number') exact[name] = parsed[name]
  return exact
}
