// What this process takes of the machine.

import { readdirSync } from 'node:fs'

/** Bytes of memory this process holds. */
export const residentBytes = (): number => process.memoryUsage.rss()

/** Bytes of its heap in use, those of objects that a collection would free included. */
export const heapBytes = (): number => process.memoryUsage().heapUsed

/** Open file descriptors; undefined where the system does not list them. */
export const openFiles = (): number | undefined => {
  for (const folder of ['/proc/self/fd', '/dev/fd']) {
    try {
      return readdirSync(folder).length
    } catch {
      // The next system's way.
    }
  }
  return undefined
}
