// How this program is started again: as the file that it is, or from its sources.

import { statSync } from 'node:fs'

/** The command and its words before the program's own. */
export const ownCommand = (): { path: string; words: string[] } => {
  const script = process.argv[1] ?? ''
  const compiled = script.includes('$bunfs')
  return {
    path: isRunning(process.execPath) ? process.execPath : RUNNING,
    words: compiled ? [] : [...process.execArgv, script],
  }
}

/** What runs here, whatever its path has come to name; on Linux alone. */
const RUNNING = '/proc/self/exe'

/** Whether the file of this name is what runs: an upgrade puts another there, and has none there for a moment. */
const isRunning = (path: string): boolean => {
  const running = statSync(RUNNING, { throwIfNoEntry: false })
  const named = statSync(path, { throwIfNoEntry: false })
  return running === undefined || (named?.ino === running.ino && named.dev === running.dev)
}
