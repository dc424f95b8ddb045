// This process's memory and file descriptors.

import { openSync, readdirSync, readFileSync, readSync } from 'node:fs'

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

/** Linux tells how many pages a process holds in a file that can stay open: the runtime opens another each time. */
const STATM = '/proc/self/statm'
const STATM_BYTES = 128

/** Undefined where the system has no such file. */
const pagesHeld = (): (() => number) | undefined => {
  try {
    const file = openSync(STATM, 'r')
    const text = Buffer.alloc(STATM_BYTES)
    return () => Number(text.toString('latin1', 0, readSync(file, text, 0, STATM_BYTES, 0)).split(' ')[1])
  } catch {
    return undefined
  }
}

const residentByPages = (): (() => number) => {
  const byRuntime = (): number => process.memoryUsage.rss()
  const pages = pagesHeld()
  const known = pages?.() ?? 0
  if (pages === undefined || !(known > 0)) return byRuntime
  // The size of a page is a power of two, which the runtime does not tell.
  const pageBytes = 2 ** Math.round(Math.log2(byRuntime() / known))
  return () => pages() * pageBytes
}

let resident: (() => number) | undefined

/** Bytes of memory this process holds. */
export const residentBytes = lastRead(() => {
  resident ??= residentByPages()
  return resident()
})

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
