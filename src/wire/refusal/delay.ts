// How long a provider asks to be left alone, in its own words or among its error's details.

import { asObjects, asText, isObject, type JsonObject } from '../../ir/json.ts'

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

/** By its details or a member where they tell one, else by its message. */
export const retryDelay = (message: string, members: JsonObject): { retryAfterMs?: number } => {
  const told = asObjects(members.details)
    .map(({ retryDelay: delay }) => delayIn(`retry in ${asText(delay)}`))
    .find((ms) => ms !== undefined)
  const retryAfterMs = told ?? delayAmong(members) ?? delayIn(message)
  return retryAfterMs === undefined ? {} : { retryAfterMs }
}

/** Members that hold one: `retry_after`, `retryAfterMs`, `resets_in_seconds`; a number without a unit is of seconds. */
const WAIT = /^(?:retry_?after|resets?_?(?:in|after)?)_?(ms|milli\w*|s|secs?|seconds?)?$/i
/** What is more is a point in time. */
const MOST_MS = 31 * 86_400_000

const delayAmong = (members: JsonObject): number | undefined => {
  for (const holder of [members, ...Object.values(members).filter(isObject)])
    for (const [name, value] of Object.entries(holder)) {
      const named = WAIT.exec(name)
      if (named === null || (typeof value !== 'number' && typeof value !== 'string')) continue
      const ms = Math.ceil(Number(value) * (/^m/i.test(named[1] ?? '') ? 1 : 1_000))
      if (ms > 0 && ms <= MOST_MS) return ms
    }
  return undefined
}
