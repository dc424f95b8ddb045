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

/** Where a step through a list ends, by the place of what is next. */
export const isStepOver = (at: number): boolean => at % STEP_LENGTH === STEP_LENGTH - 1

/** Of the elements of a list: a turn of a conversation takes some microseconds. */
const STEP_LENGTH = 1_000

/** `flatMap` in steps. */
export function* flatInSteps<One, Made>(
  list: readonly One[],
  make: (one: One, at: number) => readonly Made[],
): Steps<Made[]> {
  const all: Made[] = []
  for (const [at, one] of list.entries()) {
    for (const made of make(one, at)) all.push(made)
    if (isStepOver(at)) yield
  }
  return all
}

/** `bytes`: how much each step works on. */
export const inTurns = async <T>(steps: Steps<T>, bytes: number, turns: Turns): Promise<T> => {
  for (;;) {
    const { done, value } = await turns(bytes, () => steps.next())
    if (done === true) return value
  }
}
