// Runs this Bun again on the project's behalf: nothing but it and the registry is assumed.

import { join } from 'node:path'

export const ROOT = join(import.meta.dir, '..')

/** Runs to the end with the terminal's own input and output; resolves with the exit code. */
export const bun = async (args: string[], env: Record<string, string> = {}): Promise<number> => {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['inherit', 'inherit', 'inherit'],
  })
  // The child gets the terminal's signals itself and stops in its own time.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  return child.exited
}

/** Installs exactly what the lock file names. */
export const install = (): Promise<number> => bun(['install', '--frozen-lockfile'])
