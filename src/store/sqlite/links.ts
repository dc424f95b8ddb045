// Where a database is whose file is a symbolic link.

import { lstatSync, realpathSync } from 'node:fs'

/** SQLite keeps a database's log beside the file that a link leads to: all that is beside it must be looked for there. */
export const followLinks = (path: string): string => {
  try {
    return lstatSync(path).isSymbolicLink() ? realpathSync(path) : path
  } catch {
    // It is not there, or leads nowhere: opening it reports why.
    return path
  }
}
