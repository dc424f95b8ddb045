// A terminal that is a value: a directory of its own, what was written, a clock and a stop button.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Io } from '../../src/cli/io.ts'
import { run } from '../../src/cli/run.ts'

export type Said = { code: number; out: string; err: string }

export const openTerminal = (env: Record<string, string> = {}) => {
  const cwd = mkdtempSync(join(tmpdir(), 'sluice-cli-'))
  const clock = { now: Date.UTC(2026, 8, 1) }
  return {
    cwd,
    clock,
    env,
    /** Runs one command line; words as the shell would hand them over. */
    type: async (...words: string[]): Promise<Said> => {
      const out: string[] = []
      const err: string[] = []
      const io: Io = {
        out: (text) => out.push(text),
        err: (text) => err.push(text),
        env,
        cwd,
        now: () => clock.now,
        onStop: () => () => undefined,
      }
      const code = await run(words, io)
      return { code, out: out.join('\n'), err: err.join('\n') }
    },
    close: () => rmSync(cwd, { recursive: true, force: true }),
  }
}

export type Terminal = ReturnType<typeof openTerminal>
