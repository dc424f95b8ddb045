// The command line as a process: what it says, line by line, and how it ends.

import { readFileSync } from 'node:fs'
import { until } from '../../support/until.ts'

/** The compiled file, where the environment names it. */
export const BINARY = process.env.SLUICE_BINARY || undefined

export const MAIN = new URL('../../../src/main.ts', import.meta.url).pathname

/** What is run: the compiled file, or the source. */
export const PROGRAM = BINARY === undefined ? [process.execPath, MAIN] : [BINARY]

export type Child = {
  pid: number
  kill(signal: NodeJS.Signals): void
  /** The exit code; that of a killed one is not 0. */
  exited: Promise<number>
  /** All of it, once it has ended. */
  out: Promise<string>
  err: Promise<string>
  /** The first line of stderr, not seen by this call before, that the pattern matches: its first group or the line. */
  says(pattern: RegExp): Promise<string>
  /** What is on stdout so far, once a line of it matches. */
  printed(pattern: RegExp): Promise<string>
  /** The base URL, once it listens. */
  ready(): Promise<string>
}

const children = new Set<Child>()

/** How many processes of a server serve: more than one where the environment of the tests says so. */
export const SERVING = BINARY === undefined ? 1 : Number(process.env.SLUICE_WORKERS ?? 1)
const WORKERS = process.env.SLUICE_WORKERS === undefined ? {} : { SLUICE_WORKERS: process.env.SLUICE_WORKERS }

/** A process and those that it has started, where the system tells. */
export const familyOf = (pid: number): number[] => {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number).filter(Boolean)
    return [pid, ...children.flatMap(familyOf)]
  } catch {
    return [pid]
  }
}

/** Not one that has ended and that nobody has looked after yet. */
export const isRunning = (pid: number): boolean => {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Resolves when all processes of the server have ended: what starts the others takes them along. */
export const killWhole = async (child: Child): Promise<void> => {
  const [, ...others] = familyOf(child.pid)
  child.kill('SIGKILL')
  await child.exited
  await until(() => !others.some(isRunning))
}

/** An environment that names nothing of this machine's. */
export const launch = (program: string[], words: string[], cwd: string, env: Record<string, string> = {}): Child => {
  const spawned = Bun.spawn([...program, ...words], {
    ...{ cwd, stdout: 'pipe', stderr: 'pipe', stdin: 'ignore' },
    env: { PATH: process.env.PATH ?? '', TMPDIR: cwd, ...WORKERS, ...env },
  })
  const out = lines(spawned.stdout)
  const err = lines(spawned.stderr)
  const child: Child = {
    pid: spawned.pid,
    kill: (signal) => spawned.kill(signal),
    exited: spawned.exited,
    out: out.whole,
    err: err.whole,
    says: err.first,
    printed: (pattern) => out.first(pattern).then(out.soFar),
    ready: () => err.first(/^API\s+(\S+)\/v1$/),
  }
  children.add(child)
  void spawned.exited.then(() => children.delete(child))
  return child
}

/** Ends whatever a failed test has left running. */
export const endAll = async (): Promise<void> => {
  const left = [...children]
  for (const child of left) child.kill('SIGKILL')
  await Promise.all(left.map((child) => child.exited))
}

const lines = (stream: ReadableStream<Uint8Array>) => {
  const seen: string[] = []
  let at = 0
  let over = false
  let grown = Promise.withResolvers<void>()
  const soFar = (): string => seen.join('\n')
  const read = async (): Promise<string> => {
    const text = new TextDecoder()
    let rest = ''
    for await (const chunk of stream) {
      const pieces = (rest + text.decode(chunk, { stream: true })).split('\n')
      rest = pieces.pop() ?? ''
      seen.push(...pieces)
      grown.resolve()
      grown = Promise.withResolvers()
    }
    if (rest !== '') seen.push(rest)
    over = true
    grown.resolve()
    return soFar()
  }
  return {
    whole: read(),
    soFar,
    first: async (pattern: RegExp): Promise<string> => {
      for (;;) {
        for (; at < seen.length; at++) {
          const found = pattern.exec(seen[at] ?? '')
          if (found === null) continue
          at++
          return found[1] ?? found[0]
        }
        if (over) throw new Error(`ended without ${pattern}:\n${soFar()}`)
        await grown.promise
      }
    },
  }
}
