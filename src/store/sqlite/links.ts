// Where a database is whose file is a symbolic link.

import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { codeOf } from '../../lib/system-code.ts'

/**
 * SQLite keeps a database's log beside the file that a link leads to, and makes that file where there is none: all that is
 * beside it must be looked for there.
 */
export const followLinks = (path: string): string => {
  try {
    return targetOf(path)
  } catch {
    // It is not there, or leads nowhere: opening it reports why.
    return path
  }
}

const targetOf = (path: string): string => {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return path
  try {
    return realpathSync(path)
  } catch (error) {
    // One that leads to itself.
    if (codeOf(error) !== 'ENOENT') throw error
    const to = readlinkSync(path)
    const folder = isAbsolute(to) ? dirname(to) : `${dirname(path)}/${dirname(to)}`
    return targetOf(join(realpathSync(folder), basename(to)))
  }
}
