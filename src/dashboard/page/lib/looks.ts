// How the series of a chart look: by where each stands among its kind, and not by its rank.

/** Numbers of the palette and of the patterns, from 0; pattern 0 is none. */
export type Look = { color: number; pattern: number }

/** The palette's last colour is for what is put together. */
const COLORS = 7
const PATTERNS = 4
export const REST: Look = { color: COLORS, pattern: 0 }

/** By the place of each among its kind. Of two that would look alike the later one takes the next look that is free. */
export const looksOf = (series: readonly { group: string; place: number }[]): Look[] => {
  const taken = new Map<number, string>()
  for (const { group, place } of [...series].sort((a, b) => a.place - b.place)) {
    if (group === 'other') continue
    let look = place % (COLORS * PATTERNS)
    while (taken.has(look) && taken.size < COLORS * PATTERNS) look = (look + 1) % (COLORS * PATTERNS)
    taken.set(look, group)
  }
  const looks = new Map([...taken].map(([look, group]) => [group, look]))
  return series.map(({ group }) => {
    const look = looks.get(group)
    return look === undefined ? REST : { color: look % COLORS, pattern: Math.floor(look / COLORS) }
  })
}
