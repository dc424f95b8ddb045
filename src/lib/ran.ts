// For how long this process has run, by turns of its event loop: of time in which it stood still, or was kept waiting on a
// busy machine, nobody else knows.

const LOOK_MS = 100

/** Nothing is counted while nobody has begun. */
export const createRan = () => {
  let looks = 0
  let until = Number.NEGATIVE_INFINITY
  let isLooking = false
  const look = (): void => {
    looks++
    later()
  }
  const later = (): void => {
    isLooking = looks <= until
    if (isLooking) setTimeout(look, LOOK_MS).unref()
  }
  return {
    /** From now on, for so long at least. Gives what `since` is asked with. */
    begin: (forMs: number): number => {
      until = looks + forMs / LOOK_MS
      if (!isLooking) later()
      return looks
    },
    /** In milliseconds, by tenths of a second. */
    since: (begun: number): number => (looks - begun) * LOOK_MS,
  }
}

export const ran = createRan()
