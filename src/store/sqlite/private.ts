// Files for their owner alone.

import { closeSync, openSync } from 'node:fs'

/** An empty file, where there is none, that only its owner reads: whatever the folder and the umask allow. */
export const createPrivate = (path: string): void => {
  try {
    closeSync(openSync(path, 'ax', 0o600))
  } catch {
    // It is there, or cannot be: SQLite finds out which, and says why.
  }
}
