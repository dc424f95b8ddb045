// Makes repeated names and ids unique.

/**
 * Returns each text unchanged the first time, later with a number appended, within `max` characters. The time taken is
 * linear however often one text repeats.
 */
export const distinct = (max = Number.POSITIVE_INFINITY): ((text: string) => string) => {
  const used = new Set<string>()
  const copies = new Map<string, number>()
  return (text) => {
    let own = text
    if (used.has(own)) {
      const base = text.slice(0, max - ROOM)
      let copy = copies.get(base) ?? 1
      while (used.has(own)) own = `${base}_${++copy}`
      copies.set(base, copy)
    }
    used.add(own)
    return own
  }
}

/** Characters kept free for the number and its underscore. */
const ROOM = 8
