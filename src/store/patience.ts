// Patience with another process that is writing to the database: how long a write is tried again, in steps that leave the
// event loop to running streams.

import { isBusy } from './store.ts'

/** In all: a request is refused after it, a command and a start fail. */
export const PATIENCE_MS = 2_000
/** How long one try of a server waits. It blocks the event loop, and so every stream. */
export const TRY_MS = 50
/** Between two tries: running streams need it. */
export const PAUSE_MS = 150
const MOST_TRIES = PATIENCE_MS / (TRY_MS + PAUSE_MS)
/** At a start nothing runs yet: the same time, without pauses. */
export const START_TRIES = PATIENCE_MS / TRY_MS

/** Whether a write that failed for this cause is tried again, after a pause. `tries`: how often it was. */
export const triesAgain = (cause: unknown, tries: number): boolean => isBusy(cause) && tries < MOST_TRIES

/** Runs after so many milliseconds. */
export type Later = (run: () => void, delayMs: number) => void

/** Runs `write` until it succeeds, fails for another cause, or has been tried for as long as patience lasts. */
export const patiently = async <T>(write: () => T, later: Later = setTimeout): Promise<T> => {
  for (let tries = 1; ; tries++) {
    try {
      return write()
    } catch (cause) {
      if (!triesAgain(cause, tries)) throw cause
    }
    await new Promise<void>((resolve) => later(resolve, PAUSE_MS))
  }
}
