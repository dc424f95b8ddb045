// What the parts of a configuration are read with: the file, the environment, and where problems and warnings go.

import { DAY_MS } from '../lib/spans.ts'
import type { Overlay } from './overlay.ts'
import { memberPath, type Problem, type Report } from './problem.ts'
import type { FileConfig } from './schema.ts'
import { type Env, resolveSecret, wrongCredential } from './secret.ts'
import { parseDuration } from './units.ts'

export type Reader = {
  file: FileConfig
  /** What stands beside the file. */
  kept: Overlay
  env: Env
  /** Whether accounts and secrets are read; commands that only need the data directory leave them alone. */
  resolves: boolean
  /** About a member of the file. */
  report: Report
  /** A reader's `report` for a flag or an environment variable instead of the file. */
  outside(source: string): { report: Report }
  warn(sentence: string): void
  /** Milliseconds of a duration a timer can hold, else the default. */
  duration(path: string, written: string | 0 | undefined, otherwiseMs: number): number
  /** The text behind `env:`, `file:` or the text itself; undefined once the problem is reported. */
  reference(path: string, written: string): string | undefined
  /** Like `reference`, for a credential, with a warning where the secret itself is written. */
  secret(path: string, written: string): string | undefined
}

type ReaderOptions = {
  file: FileConfig
  kept: Overlay
  /** The file's name in messages and the directory its relative paths start from. */
  source: string
  directory: string
  env: Env
  resolves: boolean
  problems: Problem[]
  warnings: string[]
}

/** What a 32-bit timer holds, rounded down to days. */
const LONGEST_MS = 24 * DAY_MS

export const createReader = ({
  file,
  kept,
  source,
  directory,
  env,
  resolves,
  problems,
  warnings,
}: ReaderOptions): Reader => {
  const reporter =
    (from: string): Report =>
    (path, message) => {
      problems.push({ source: from, path, message })
    }
  const report = reporter(source)
  const read = (path: string, written: string) => {
    const resolved = resolveSecret(written, env, directory)
    if ('value' in resolved) return resolved
    report(path, resolved.problem)
    return undefined
  }
  return {
    file,
    kept,
    env,
    resolves,
    report,
    outside: (from) => ({ report: reporter(from) }),
    warn: (sentence) => {
      warnings.push(sentence)
    },
    duration: (path, written, otherwiseMs) => {
      const ms = parseDuration(written ?? '') ?? otherwiseMs
      if (ms > LONGEST_MS) report(path, `found ${written}, allowed: a duration of up to 24d`)
      return ms
    },
    reference: (path, written) => read(path, written)?.value,
    secret: (path, written) => {
      const resolved = read(path, written)
      const fault = resolved === undefined ? undefined : wrongCredential(resolved.value)
      if (fault !== undefined) {
        report(path, fault)
        return undefined
      }
      if (resolved?.literal) {
        warnings.push(`${source}: ${path} holds the secret itself; env:NAME or file:PATH keeps it out of the file`)
      }
      return resolved?.value
    },
  }
}

/** Where the configuration and what stands beside it speak of the same, the configuration holds: the other is told so. */
export const IN_CONFIGURATION = 'the configuration says something of it itself, and that holds'

/** What the file says by name, then what stands beside it. */
export const withKept = <T>(
  { report }: Reader,
  section: string,
  file: Readonly<Record<string, T>> = {},
  kept: Readonly<Record<string, T>>,
): Record<string, T> => {
  for (const name of Object.keys(kept))
    if (Object.hasOwn(file, name)) report(memberPath(section, name), IN_CONFIGURATION)
  return { ...file, ...Object.fromEntries(Object.entries(kept).filter(([name]) => !Object.hasOwn(file, name))) }
}

/** The reader of texts that are what they are: no reference leads from them to a file or a variable, and all can be read. */
export const asWritten = (reader: Reader): Reader => ({
  ...reader,
  resolves: true,
  reference: (_, written) => written,
  secret: (path, written) => {
    const fault = wrongCredential(written)
    if (fault === undefined) return written
    reader.report(path, fault)
    return undefined
  },
})
