// This process's memory and file descriptors.

import { readdirSync, readFileSync } from 'node:fs'

/** What was read last: reading takes a descriptor, and there may be none. */
const lastRead = (read: () => number): (() => number) => {
  let last = 0
  return () => {
    try {
      last = read()
    } catch {
      // None was left.
    }
    return last
  }
}

/** Bytes of memory this process holds. */
export const residentBytes = lastRead(() => process.memoryUsage.rss())

/** Bytes of its heap in use, those of objects that a collection would free included. */
export const heapBytes = lastRead(() => process.memoryUsage().heapUsed)

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

/** How many descriptors it may open at most; undefined where the system does not say, or sets no limit. */
export const openFilesLimit = (): number | undefined => {
  try {
    const [, most] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return most === undefined ? undefined : Number(most)
  } catch {
    return undefined
  }
}
