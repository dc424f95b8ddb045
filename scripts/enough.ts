// Ends with a word where this Bun is older than the one that the lock file is for: its own would be of that file, or of some
// function that it lacks. Imports nothing that is to be installed.

import manifest from '../package.json' with { type: 'json' }

const WANTED = manifest.packageManager.replace('bun@', '')

/** What to do instead; undefined where it is new enough. */
export const tooOld = (version: string, command = ''): string | undefined =>
  Bun.semver.order(version, WANTED) >= 0
    ? undefined
    : `Bun ${version} is older than the ${WANTED} that this needs: npx -y bun@${WANTED} ${command}, or "bun upgrade".`

export const requireBun = (command: string): void => {
  const word = tooOld(Bun.version, command)
  if (word === undefined) return
  console.error(word)
  process.exit(1)
}

if (import.meta.main) requireBun(process.argv.slice(2).join(' '))
