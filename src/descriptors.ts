// Load shedding by file descriptors: every connection takes one, and a provider call that gets none fails.

import { canOpen } from './lib/descriptors.ts'

export type Descriptors = {
  /** Whether so few are left that nobody more should be let in. */
  short(): boolean
  /** Whether they were at any look since this was last asked. */
  wereShort(): boolean
}

/** Between two looks. */
const LOOK_EVERY_MS = 50
/** What those who are inside may still need: connections to providers, names looked up, threads, copies. */
const SPARE = 32

export const createDescriptors = (canOpenMore = (): boolean => canOpen(SPARE)): Descriptors => {
  let lookedAt = Number.NEGATIVE_INFINITY
  let short = false
  let wereShort = false
  return {
    short() {
      const now = performance.now()
      if (now - lookedAt >= LOOK_EVERY_MS) {
        lookedAt = now
        short = !canOpenMore()
        wereShort ||= short
      }
      return short
    },
    wereShort() {
      const were = wereShort
      wereShort = false
      return were
    },
  }
}

/** How often it is looked at while nobody asks anything, and how often it is told. */
const ROUND_MS = 1_000
const TELL_EVERY_MS = 60_000

/** While they are short, has idle connections closed; says so also where they were for a moment only. Runs until the returned function is called. */
export const watchDescriptors = (
  descriptors: Descriptors,
  closeIdle: () => void,
  tell: (message: string) => void,
): (() => void) => {
  let toldAt = Number.NEGATIVE_INFINITY
  const rounds = setInterval(() => {
    if (descriptors.short()) closeIdle()
    if (!descriptors.wereShort()) return
    if (performance.now() - toldAt < TELL_EVERY_MS) return
    toldAt = performance.now()
    tell('few descriptors are left: new requests answer 503 and idle connections are closed. Raise "ulimit -n"')
  }, ROUND_MS)
  rounds.unref()
  return () => clearInterval(rounds)
}
