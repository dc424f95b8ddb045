// What the database has said yes to without waiting for its disk. A crash takes the last moments of it along, and then it is said
// again: what is there of it stays as it is.

export type Lately<T> = {
  heard(said: T): void
  /** There was no crash: what is older than one could take along is let go of. */
  forget(): void
  /** All that is kept is said again, for as long as that fails and half a minute at most. */
  sayAgain(isOver: () => boolean): Promise<void>
  isSayingAgain(): boolean
}

/** A server puts off writing for three of its rounds, of a fifth of a second unless somebody has set them otherwise. */
const KEPT_MS = 3_000
/** Groups of what was said. */
const MOST = 5_000
const AGAIN_MS = 30_000
const PAUSE_MS = 50

/** `say`: false where it could not be said. */
export const createLately = <T>(say: (said: T) => Promise<boolean>): Lately<T> => {
  let kept: { said: T; at: number }[] = []
  let owed: T[] = []
  let isSaying = false
  return {
    heard(said) {
      kept.push({ said, at: performance.now() })
      if (kept.length > MOST) kept = kept.slice(-MOST / 2)
    },
    forget() {
      const since = performance.now() - KEPT_MS
      const first = kept.findIndex(({ at }) => at >= since)
      kept = first === -1 ? [] : kept.slice(first)
    },
    async sayAgain(isOver) {
      owed.push(...kept.map(({ said }) => said))
      kept = []
      if (isSaying) return
      isSaying = true
      for (const until = performance.now() + AGAIN_MS; !isOver() && performance.now() < until; ) {
        const [first] = owed
        if (first === undefined) break
        if (await say(first)) owed.shift()
        else await Bun.sleep(PAUSE_MS)
      }
      owed = []
      isSaying = false
    },
    isSayingAgain: () => isSaying,
  }
}
