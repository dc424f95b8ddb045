// The world as a command sees it: where it writes and what it reads, so that a test can be one.

import type { Env } from '../config/secret.ts'
import type { Actor } from '../keys/key.ts'

export type Io = {
  /** Adds the line break itself. Results go here. */
  out(text: string): void
  /** Adds the line break itself. Everything that is not the result: warnings, errors, notes. */
  err(text: string): void
  /** Whether a person reads what goes out, on a terminal. */
  terminal?: boolean
  /** Asks on the terminal for what nobody shall see, or reads a line of standard input where no question is given. */
  readSecret?(question?: string): Promise<string | undefined>
  /** Asks on the terminal for a yes; undefined where there is none to ask on. */
  confirm?(question: string): Promise<boolean | undefined>
  env: Env
  cwd: string
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls back on each request to stop (SIGINT, SIGTERM); returns how to stop listening. */
  onStop(listener: () => void): () => void
  /** Calls back on each request to read the configuration again (SIGHUP), where the system has one. */
  onReload?(listener: () => void): () => void
  /** Calls back with what was thrown and caught by nobody. */
  onFault?(listener: (error: unknown) => void): () => void
}

/** What a command ended with. `usage` covers a wrong configuration too. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const

/** Wrong words on the command line: one sentence, exit code 2. */
type UsageError = Error & { name: 'UsageError' }

export const usageError = (message: string): UsageError =>
  Object.assign(new Error(message), { name: 'UsageError' as const })

export const isUsageError = (error: unknown): error is UsageError =>
  error instanceof Error && error.name === 'UsageError'

/** An operation that could not be done: one sentence, exit code 1. */
export const failure = (message: string): Error => Object.assign(new Error(message), { name: 'Failure' as const })

/** One JSON document on stdout. */
export const printJson = (io: Io, value: unknown): void => io.out(JSON.stringify(value, null, 2))

/** Who the audit names for what is done here. */
export const CLI_ACTOR: Actor = { kind: 'cli', id: 'cli' }
