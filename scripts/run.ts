// Runs this Bun again on the project's behalf: nothing but it and the registry is assumed.

import { join } from 'node:path'

export const ROOT = join(import.meta.dir, '..')

/**
 * Runs to the end with the terminal's own input and output; resolves with the exit code. `into`: the descriptor that all it
 * writes goes to instead. `signal` ends it.
 */
export const bun = async (
  args: string[],
  env: Record<string, string> = {},
  cwd = ROOT,
  { into, signal }: { into?: number | undefined; signal?: AbortSignal | undefined } = {},
): Promise<number> => {
  const to = into ?? 'inherit'
  const child = Bun.spawn([process.execPath, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['inherit', to, to],
    ...(signal === undefined ? {} : { signal }),
  })
  // From a terminal the child gets its own Ctrl-C: a second one would tell it not to wait.
  const attached = process.stdin.isTTY === true
  process.on('SIGINT', () => attached || child.kill('SIGINT'))
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  return child.exited
}

/** What installs exactly what the lock file names, without a list of it. */
export const INSTALL = ['install', '--frozen-lockfile', '--no-summary']
export const install = (): Promise<number> => bun(INSTALL)
