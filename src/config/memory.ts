// The memory limit of a gateway that configures none: most of what the machine or its container has.

import { totalmem } from 'node:os'

const PART = 0.75

/** In bytes. */
export const defaultMaxMemory = (): number => {
  const limit = process.constrainedMemory()
  return Math.floor(PART * (limit > 0 ? Math.min(limit, totalmem()) : totalmem()))
}
