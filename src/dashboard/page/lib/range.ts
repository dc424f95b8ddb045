// The spans of time pages look at, counted back from now.

export const RANGES = [
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['90d', '90 days'],
] as const

export type Range = (typeof RANGES)[number][0]

const HOUR_MS = 3_600_000
const SPANS: Record<Range, { hours: number; step: 'hour' | 'day' }> = {
  '24h': { hours: 23, step: 'hour' },
  '7d': { hours: 7 * 24 - 1, step: 'hour' },
  '30d': { hours: 29 * 24, step: 'day' },
  '90d': { hours: 89 * 24, step: 'day' },
}

export const isRange = (text: string | undefined): text is Range => text !== undefined && Object.hasOwn(SPANS, text)

/** What to ask the server for; whole steps, the one under way included. */
export const spanOf = (range: Range, now = Date.now()): { since: string; until: string; step: 'hour' | 'day' } => {
  const { hours, step } = SPANS[range]
  return { since: new Date(now - hours * HOUR_MS).toISOString(), until: new Date(now).toISOString(), step }
}
