// When an answer says to ask again.

// Some send a time in seconds since the epoch: read as a duration, it would be a wait of decades.
const EPOCH_MS = 1e12

/** `Retry-After` in milliseconds, as seconds or as a time (or `retry-after-ms`); undefined when absent or neither. */
export const retryAfterIn = (headers: Headers, now: number): number | undefined => {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (Number.isFinite(exact)) return Math.max(0, exact)
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const isNumber = /^\d+(\.\d+)?$/.test(value)
  const told = isNumber ? Number(value) * 1000 : Date.parse(value)
  const ms = isNumber && told < EPOCH_MS ? told : told - now
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}
