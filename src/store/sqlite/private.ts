// Files that only their owner can read.

import { closeSync, openSync } from 'node:fs'

/** Creates an empty file that only its owner can read, whatever the umask. An existing file stays as it is. */
export const createPrivate = (path: string): void => {
  try {
    closeSync(openSync(path, 'ax', 0o600))
  } catch {
    // It exists, or cannot be created: opening it reports why.
  }
}
