// Files that only their owner can read.

import { closeSync, fchownSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates an empty file that only its owner can read, whatever the umask. An existing file stays as it is. `database`: the
 * one it is, or belongs to. What root makes of that is given to who owns the database, or else its folder: the server may
 * run as that user, and could not open it.
 */
export const createPrivate = (path: string, database?: string): void => {
  try {
    const owner = database === undefined || process.getuid?.() !== 0 ? undefined : ownerOf(database)
    const file = openSync(path, 'ax', 0o600)
    try {
      if (owner !== undefined) fchownSync(file, owner.uid, owner.gid)
    } finally {
      closeSync(file)
    }
  } catch {
    // It exists, or cannot be created: opening it reports why.
  }
}

const ownerOf = (database: string) => statSync(database, { throwIfNoEntry: false }) ?? statSync(dirname(database))
