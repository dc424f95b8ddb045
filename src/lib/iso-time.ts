// ISO 8601 dates and times, read and written.

const ISO = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/

/** Milliseconds since the epoch; a time without a zone is in UTC. Undefined for text that is not a date or time. */
export const parseIsoTime = (text: string): number | undefined => {
  const [, date = '', time, zone] = ISO.exec(text) ?? []
  const at = Date.parse(time !== undefined && zone === undefined ? `${text}Z` : text)
  // `Date.parse` accepts the 30th of February as the 2nd of March.
  return Number.isNaN(at) || !isDay(date) ? undefined : at
}

const isDay = (date: string): boolean => {
  const at = Date.parse(date)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date)
}

/** In UTC with milliseconds. `ms`: since the epoch. */
export const iso = (ms: number): string => new Date(ms).toISOString()
export const isoOrNull = (ms: number | null | undefined): string | null => (ms == null ? null : iso(ms))
