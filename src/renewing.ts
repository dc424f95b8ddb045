// Renews the quotas of keys when a day, a week or a month begins, in steps short enough that no request waits for one.

import type { Gateway } from './gateway.ts'
import { isRenewalDue } from './keys/renewal.ts'

/** How soon after midnight it begins, and how often it looks whether a new day has. */
const EVERY_MS = 1_000
/** A step blocks the event loop about this long, and is followed by a pause. */
const STEP_MS = 3
const PAUSE_MS = 15
const DAY_MS = 86_400_000

/** Runs until the returned function is called; begins at once with what became due while no server ran. */
export const startRenewing = (gateway: Gateway): (() => void) => {
  /** The UTC day of which all is done. */
  let day: number | undefined
  let pause: Timer | undefined
  const step = (): void => {
    pause = undefined
    try {
      const today = Math.floor(gateway.clock.now() / DAY_MS)
      if (renewStep(gateway)) day = today
      else pause = setTimeout(step, PAUSE_MS).unref()
    } catch (error) {
      gateway.log.warn('quotas could not be renewed: tried again in a second', { cause: String(error) })
    }
  }
  const look = (): void => {
    if (pause === undefined && Math.floor(gateway.clock.now() / DAY_MS) !== day) step()
  }
  look()
  const rounds = setInterval(look, EVERY_MS)
  rounds.unref()
  return () => {
    clearInterval(rounds)
    clearTimeout(pause)
  }
}

/** Says whether none is left to renew. */
const renewStep = ({ store, clock }: Gateway): boolean => {
  const due = store.keys.list().filter((key) => isRenewalDue(key, clock.now()))
  const began = performance.now()
  for (const [at, { id }] of due.entries()) {
    store.keys.renew(id)
    if (performance.now() - began > STEP_MS) return at === due.length - 1
  }
  return true
}
