// Finds the known name that a misspelt one was probably meant to be.

/** So much of a name may stand for all of it, and two changes of no more of it make it another. */
const SHORTENED = 3

/** Undefined where none is close enough, nor is the only one that begins so. Case is ignored. */
export const nearest = (name: string, known: Iterable<string>): string | undefined => {
  const all = [...known]
  const written = name.toLowerCase()
  const [whole, ...others] = all.filter((candidate) => candidate.toLowerCase().startsWith(written))
  return closest(name, all) ?? (written.length >= SHORTENED && others.length === 0 ? whole : undefined)
}

const closest = (name: string, known: readonly string[]): string | undefined => {
  let best: string | undefined
  let bestDistance = (name.length > SHORTENED ? Math.max(2, Math.floor(name.length / 3)) : 1) + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** The few that are nearest, those that hold the name or are held by it before all others. */
export const nearestOf = (name: string, known: readonly string[], most: number): string[] => {
  const written = name.toLowerCase()
  const distances = [...new Set(known)].map((candidate) => {
    const other = candidate.toLowerCase()
    const isPart = other.includes(written) || written.includes(other)
    return { candidate, distance: isPart ? 0 : editDistance(written, other) }
  })
  const limit = Math.max(3, Math.floor(name.length / 2))
  return distances
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, most)
    .map(({ candidate }) => candidate)
}

/** The Levenshtein distance. */
const editDistance = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const change = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(change, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    previous = row
  }
  return previous[b.length] ?? 0
}
