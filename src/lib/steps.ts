// Work in steps, between which others may have their turn of the event loop.

import type { Turns } from './turns.ts'

/** Yields where a step ends. */
export type Steps<T> = Generator<undefined, T>

export const atOnce = <T>(steps: Steps<T>): T => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** `bytes`: how much each step works on. */
export const inTurns = async <T>(steps: Steps<T>, bytes: number, turns: Turns): Promise<T> => {
  for (;;) {
    const { done, value } = await turns(bytes, () => steps.next())
    if (done === true) return value
  }
}
