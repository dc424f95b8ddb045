// Random choices of a sloppy vendor, drawn by fast-check. All zeros give the regular form, so that failures shrink to it.

import fc from 'fast-check'

export type Dice = {
  /** One of the values; the first in the regular form. */
  one<T>(first: T, ...others: T[]): T
  /** Whether to deviate from the regular form. */
  odd(): boolean
  /** A text in pieces of UTF-16 units, some of them empty. */
  cut(text: string): string[]
  /** Merges lists, each in its own order and their first items in order, too; `mixed`: interleaved at random. */
  merge<T>(lists: T[][], mixed: boolean): T[]
}

/** The choices made by these numbers, zeros once they are used up. */
export const diceOf = (throws: number[]): Dice => {
  let at = 0
  const next = (sides: number): number => (throws[at++] ?? 0) % sides
  return {
    one: (...values) => values[next(values.length)] as (typeof values)[0],
    odd: () => next(4) === 1,
    cut: (text) => {
      const out: string[] = []
      let rest = text
      while (rest !== '') {
        const size = [rest.length, 1, 2, 3, 0, 7][next(6)] ?? 1
        out.push(rest.slice(0, size))
        rest = rest.slice(size)
      }
      return out
    },
    merge: (lists, mixed) => {
      if (!mixed) return lists.flat()
      const left = lists.map((list) => [...list])
      const out: (typeof lists)[0] = []
      while (left.some((list) => list.length > 0)) {
        const begun = left.findIndex((list, at) => list.length === lists[at]?.length)
        const open = left.slice(0, begun === -1 ? undefined : begun + 1).filter((list) => list.length > 0)
        const item = open[next(open.length)]?.shift()
        if (item !== undefined) out.push(item)
      }
      return out
    },
  }
}

/** Numbers that shrink to the regular form. */
export const throws: fc.Arbitrary<number[]> = fc.array(fc.nat(23), { maxLength: 500, size: 'max' })
export const dice: fc.Arbitrary<Dice> = throws.map(diceOf)

/** A stream's frames as bytes: any line ends, comments, several data lines, any slices. */
export const framed = (frames: { event?: string; data: string }[], dice: Dice): Uint8Array[] => {
  const end = dice.one('\n', '\r\n', '\r')
  const space = dice.one(' ', '')
  let text = dice.odd() ? '\uFEFF' : ''
  for (const { event, data } of frames) {
    if (dice.odd()) text += `: comment${end}`
    if (dice.odd()) text += `${end}id: 7${end}retry: 10${end}`
    if (event !== undefined) text += `event:${space}${event}${end}`
    const lines = dice.odd() ? data.replace(/,"/, ',\n"').split('\n') : [data]
    text += `${lines.map((line) => `data:${space}${line}${end}`).join('')}${end}`
  }
  const bytes = new TextEncoder().encode(text)
  const out: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = dice.one(bytes.length, 1, 3, 17, 400)
    out.push(bytes.slice(at, at + size))
    at += size
  }
  return out
}
