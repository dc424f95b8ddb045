// Bun opens 256 provider calls at once and lets the rest wait, unless its environment says otherwise from the start.

import { ownCommand } from '../lib/own-command.ts'

const LIMIT = 'BUN_CONFIG_MAX_HTTP_REQUESTS'
/** The most Bun takes. */
const MOST = '65535'

/** The commands that call providers. */
const SERVING = new Set(['serve', 'demo'])

/**
 * Starts this process over, in place and under the same pid, with the limit lifted. Does nothing for other commands,
 * where an operator has set the limit, and on systems that cannot replace a process: there 256 holds.
 */
export const liftFetchLimit = (words: string[]): void => {
  if (!SERVING.has(words[0] ?? '') || process.env[LIMIT] !== undefined) return
  // Windows has the call, warns of it, and replaces nothing.
  if (process.platform === 'win32' || process.execve === undefined) return
  const own = ownCommand()
  try {
    process.execve(own.path, [own.path, ...own.words, ...words], { ...process.env, [LIMIT]: MOST })
  } catch {
    // Not replaced: it serves as it is.
  }
}
