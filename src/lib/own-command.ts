// How this program is started again: as the file that it is, or from its sources.

/** The command and its words before the program's own. */
export const ownCommand = (): { path: string; words: string[] } => {
  const script = process.argv[1] ?? ''
  const compiled = script.includes('$bunfs')
  return { path: process.execPath, words: compiled ? [] : [...process.execArgv, script] }
}
