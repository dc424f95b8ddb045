// Times as people and programs write them.

const ISO = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/

/** An ISO 8601 date or time in milliseconds since the epoch, without a zone in UTC; undefined for a text that is none. */
export const parseIsoTime = (text: string): number | undefined => {
  const [, date = '', time, zone] = ISO.exec(text) ?? []
  const at = Date.parse(time !== undefined && zone === undefined ? `${text}Z` : text)
  // The runtime takes the 30th of February for the 2nd of March.
  return Number.isNaN(at) || !isDay(date) ? undefined : at
}

const isDay = (date: string): boolean => {
  const at = Date.parse(date)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date)
}
