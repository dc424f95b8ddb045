// Chance that a seed repeats.

export type Chance = {
  /** From 0 up to below this. */
  below(limit: number): number
  of(share: number): boolean
  pick<T>(list: readonly T[]): T
  /** A short text with what texts are read wrongly by. */
  text(): string
}

const PIECES = [
  'a',
  '0',
  '-1',
  ' ',
  '"',
  '\\',
  '\n',
  '\u0000',
  '{',
  ']',
  ',',
  'ខ្មែរ',
  '😀',
  '\ud800',
  '%',
  '../',
  'null',
  '1e999',
]

/** Marsaglia's xorshift. */
export const createChance = (seed: number): Chance => {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 1
  const next = (): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T
  return {
    below,
    pick,
    of: (share) => next() < share,
    text: () => Array.from({ length: below(6) }, () => pick(PIECES)).join(''),
  }
}
