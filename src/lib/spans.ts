// Spans of time that people count in, in milliseconds, and when they begin.

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** When the hour or the UTC day that a time lies in began; both in ms since the epoch. */
export const startOfSpan = (at: number, spanMs: number): number => at - (at % spanMs)
