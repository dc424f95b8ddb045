// Whether a database that is open is still the file at its path, and its log beside it: they may have been deleted,
// replaced, or overwritten.

import { closeSync, openSync, readSync, statSync } from 'node:fs'

const HEADER_BYTES = 100
const MAGIC = 'SQLite format 3\0'

/**
 * What SQLite writes at the beginning of a file. In one that nobody overwrites the schema's version never falls, nor do
 * the pages within a version; `shrinks`: unless SQLite was told to give free pages back (`auto_vacuum`).
 */
type Header = { pages: number; schemaVersion: number; shrinks: boolean }

export type SameFile = {
  /**
   * If the path cannot be examined, it is taken to lead to the same file. One that was moved may come back; one that was
   * overwritten is lost to this process, whatever its log writes into it.
   */
  holds(): boolean
  close(): void
}

/**
 * `schemaVersion`: as the open database has it. A file written over the database keeps its inode, and SQLite would mix the
 * two; but a copy's schema has another version or, where it is an old one, fewer pages.
 */
export const watchFile = (path: string, schemaVersion: () => number): SameFile => {
  const { dev, ino } = statSync(path)
  // Kept open: to close a file releases all locks that this process has on it, SQLite's too.
  const file = openSync(path, 'r')
  let known: Header | undefined
  let readAt: number | undefined
  let overwritten = false

  const isOurs = (header: Header | undefined): boolean => {
    if (header === undefined) return known === undefined
    if (header.schemaVersion > schemaVersion()) return false
    if (known === undefined || header.schemaVersion > known.schemaVersion) return true
    return header.schemaVersion === known.schemaVersion && (header.shrinks || header.pages >= known.pages)
  }
  return {
    holds() {
      try {
        const now = statSync(path, { throwIfNoEntry: false })
        if (now === undefined || now.ino !== ino || now.dev !== dev) return false
        if (overwritten) return false
        if (now.mtimeMs === readAt) return true
        let header = headerOf(file)
        // SQLite may have been writing it: what is not ours is read again before it counts.
        if (!isOurs(header)) header = headerOf(file)
        overwritten = !isOurs(header)
        if (overwritten) return false
        known = header
        readAt = now.mtimeMs
        return true
      } catch {
        return true
      }
    },
    close: () => closeSync(file),
  }
}

export type SameLog = Pick<SameFile, 'holds'>

/**
 * The log and its index, which SQLite keeps as they are while anyone has the database open. Of a deleted log nothing is
 * left once the process ends; without the same index other processes write over what this one has written.
 */
export const watchLog = (path: string): SameLog => {
  const files = ['-wal', '-shm'].map((end) => ({ path: `${path}${end}`, known: idOf(`${path}${end}`) }))
  return {
    holds() {
      try {
        return files.every((file) => {
          const now = idOf(file.path)
          file.known ??= now
          return now === file.known
        })
      } catch {
        return true
      }
    },
  }
}

/** Tells a file at a path from another that took its place; undefined where there is none. */
export const idOf = (file: string): string | undefined => {
  const now = statSync(file, { throwIfNoEntry: false })
  return now === undefined ? undefined : `${now.dev} ${now.ino}`
}

/** Undefined where there is none yet: all that was written is in the log. */
const headerOf = (file: number): Header | undefined => {
  const bytes = Buffer.alloc(HEADER_BYTES)
  const length = readSync(file, bytes, 0, HEADER_BYTES, 0)
  if (length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined
  return { pages: bytes.readUInt32BE(28), schemaVersion: bytes.readUInt32BE(40), shrinks: bytes.readUInt32BE(52) > 0 }
}
