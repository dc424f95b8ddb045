// Texts that must not recur, for which the wires have names and ids.

/**
 * Gives each text as it is where it is new, else with a number behind it, within `max` characters. One repeated any
 * number of times is no more work than as many different ones.
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

/** For the number and the line before it. */
const ROOM = 8
