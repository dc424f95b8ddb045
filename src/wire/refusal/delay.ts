// How long a provider asks to be left alone, in its own words or among its error's details.

import { asObjects, asText, type JsonObject } from '../../ir/json.ts'

/** A number and a unit, or several: `174ms`, `20s`, `1m26.4s`, `12 seconds`, `1 minute and 5 seconds`. */
const UNIT = '(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)'
const SPAN = `((?:\\d+(?:\\.\\d+)?\\s?${UNIT}\\b(?:,? (?:and )?)?|\\d+(?:\\.\\d+)?(?:ms|[hms])(?=\\d))+)`
const DELAY = new RegExp(`\\b(?:again|retry|wait|back|available|resets?)(?: (?:in|after|for|about))* ${SPAN}`, 'i')
const AMOUNT = /([\d.]+)\s?(ms|milli|[hms])/gi
const UNIT_MS: { [unit: string]: number } = { ms: 1, milli: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** Milliseconds; undefined where no delay is told. */
const delayIn = (text: string): number | undefined => {
  const span = DELAY.exec(text)?.[1] ?? ''
  let ms = 0
  for (const [, amount, unit = ''] of span.matchAll(AMOUNT)) ms += Number(amount) * (UNIT_MS[unit.toLowerCase()] ?? 0)
  return ms > 0 ? Math.ceil(ms) : undefined
}

/** Whether a text says when to come back. */
export const isDelayed = (text: string): boolean => delayIn(text) !== undefined

/** By its details where they tell one, else by its message. */
export const retryDelay = (message: string, { details }: JsonObject): { retryAfterMs?: number } => {
  const told = asObjects(details)
    .map(({ retryDelay: delay }) => delayIn(`retry in ${asText(delay)}`))
    .find((ms) => ms !== undefined)
  const retryAfterMs = told ?? delayIn(message)
  return retryAfterMs === undefined ? {} : { retryAfterMs }
}
