// Deletes exchanges that are past the retention time, in steps short enough that no request waits for one.

import type { Gateway } from './gateway.ts'

/** How often it looks for what has become too old. */
const EVERY_MS = 60_000
/** Rows removed at once: a fraction of a step even where every one of them is read from a disk. */
const ROWS = 20
/** A step blocks the event loop about this long, and is followed by a pause. */
const STEP_MS = 3
const PAUSE_MS = 15

/** Runs until the returned function is called. Does not keep the process alive. */
export const startPruning = (gateway: Gateway, everyMs = EVERY_MS): (() => void) => {
  let pause: Timer | undefined
  const step = (): void => {
    pause = undefined
    try {
      if (!pruneStep(gateway)) pause = setTimeout(step, PAUSE_MS).unref()
    } catch (error) {
      gateway.log.warn('old exchanges could not be removed', { cause: String(error) })
    }
  }
  const rounds = setInterval(() => {
    if (pause === undefined) step()
  }, everyMs)
  rounds.unref()
  return () => {
    clearInterval(rounds)
    clearTimeout(pause)
  }
}

/** Says whether nothing too old is left. */
const pruneStep = ({ config, store, clock }: Gateway): boolean => {
  if (config.retentionMs === 0) return true
  const before = clock.now() - config.retentionMs
  const began = performance.now()
  while (performance.now() - began < STEP_MS) if (store.prune(before, ROWS) < ROWS) return true
  return false
}
