// How much memory a gateway may take that was not told: most of what there is.

import { totalmem } from 'node:os'

const PART = 0.75

/** Bytes, of what the machine has or its container may use. */
export const mostMemory = (): number => {
  const limit = process.constrainedMemory()
  return Math.floor(PART * (limit > 0 ? Math.min(limit, totalmem()) : totalmem()))
}
