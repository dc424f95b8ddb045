// Work beside the requests, done in steps short enough that none of them waits for one.

/** A step blocks the event loop about this long, and is followed by a pause. */
const STEP_MS = 3
const PAUSE_MS = 15

export type Steps = {
  /** Works until nothing is left, unless it does already. */
  run(): void
  isRunning(): boolean
  stop(): void
}

/** `piece` does a small piece of the work and says whether any is left. What it throws ends the run. */
export const createSteps = (piece: () => boolean, failed: (cause: unknown) => void): Steps => {
  let pause: Timer | undefined
  const step = (): void => {
    pause = undefined
    const began = performance.now()
    try {
      do if (!piece()) return
      while (performance.now() - began < STEP_MS)
      pause = setTimeout(step, PAUSE_MS).unref()
    } catch (cause) {
      failed(cause)
    }
  }
  return {
    run() {
      if (pause === undefined) step()
    },
    isRunning: () => pause !== undefined,
    stop: () => clearTimeout(pause),
  }
}
