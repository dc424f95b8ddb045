// What was left out of a client's request, as its header, the log and the exchange's record have it.

/** Of all paths together, in characters: what clients and proxies accept in a header. */
const MOST_CHARS = 4_000
/** Of one path. */
const MOST_PATH_CHARS = 200

/** The paths, the first of them where they are too many: a client may have any number left out, of names of any length. */
export const listDropped = (paths: readonly string[]): string[] => {
  const listed: string[] = []
  let left = MOST_CHARS
  for (const path of paths) {
    const cut = path.slice(0, MOST_PATH_CHARS)
    left -= cut.length + ', '.length
    if (left < 0) return [...listed, `and ${paths.length - listed.length} more`]
    listed.push(cut)
  }
  return listed
}
