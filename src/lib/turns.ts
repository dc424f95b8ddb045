// Synchronous work in turns of the event loop: what many large requests need at the same moment must not hold up the
// streams of others for as long as all of it takes.

/** How long the work of one turn may take in all. A piece that takes longer has its turn alone. */
const TURN_MS = 5

/** Work on so few bytes takes no time to speak of. */
const SMALL_BYTES = 16 * 1024

/**
 * Does the work on so many bytes at once; where this turn has had enough, in one of the next, in the order it came. What is
 * small never waits.
 */
export type Turns = <T>(bytes: number, work: () => T) => T | Promise<T>

/** `now`: in milliseconds. `nextTurn` calls back once others have had theirs. Tests give their own. */
export const createTurns = (
  now: () => number = () => performance.now(),
  nextTurn: (run: () => void) => void = setImmediate,
): Turns => {
  const waiting: (() => void)[] = []
  /** When this turn's first work began. */
  let begunAt: number | undefined

  const begin = (): void => {
    begunAt = now()
    nextTurn(go)
  }
  const isOver = (): boolean => begunAt !== undefined && now() - begunAt >= TURN_MS
  const go = (): void => {
    begunAt = undefined
    if (waiting.length === 0) return
    begin()
    do waiting.shift()?.()
    while (waiting.length > 0 && !isOver())
  }

  return (bytes, work) => {
    if (bytes < SMALL_BYTES) return work()
    if (waiting.length === 0 && !isOver()) {
      if (begunAt === undefined) begin()
      return work()
    }
    return new Promise((resolve, reject) => {
      waiting.push(() => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      })
    })
  }
}
