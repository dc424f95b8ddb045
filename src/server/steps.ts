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

/** `piece` does a small piece of the work and says whether any is left. What it rejects with ends the run. */
export const createSteps = (piece: () => Promise<boolean>, failed: (cause: unknown) => void): Steps => {
  let pause: Timer | undefined
  let running = false
  let stopped = false
  const step = async (): Promise<void> => {
    const began = performance.now()
    try {
      do running = await piece()
      while (running && !stopped && performance.now() - began < STEP_MS)
      if (running && !stopped) pause = setTimeout(next, PAUSE_MS).unref()
    } catch (cause) {
      running = false
      if (!stopped) failed(cause)
    }
  }
  const next = (): void => void step()
  return {
    run() {
      if (running) return
      running = true
      next()
    },
    isRunning: () => running,
    stop() {
      stopped = true
      clearTimeout(pause)
    },
  }
}
