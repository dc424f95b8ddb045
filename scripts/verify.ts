// Everything that must hold, from an empty checkout: install, lint, types, tests, the binary, that it is the same in any
// folder, its tests, those of several of its processes, ten seconds of mixed load on it and twenty of malformed requests.

import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireBun } from './enough.ts'
import { bun, INSTALL, ROOT } from './run.ts'

requireBun('run verify')

const BINARY = { SLUICE_BINARY: `${ROOT}/dist/sluice`, SLUICE_KILLS: '20' }
const TEST = ['run', 'test']

type Step = [name: string, args: string[], env?: Record<string, string>]

const FIRST: Step[] = [['install', INSTALL]]
// Tests wait more than they reckon: those of the sources and those of the file go side by side.
const SOURCES: Step[] = [
  ['lint', ['x', '--bun', 'biome', 'check', '.']],
  ['types', ['run', '--bun', 'typecheck']],
  // Whole servers and pages are tested by the compiled file alone.
  ['tests', [...TEST, '--path-ignore-patterns=test/{growth,chaos,dashboard/page}/**']],
]
const FILE: Step[] = [
  ['build', ['scripts/build.ts']],
  ['same bytes', ['scripts/reproducible.ts', BINARY.SLUICE_BINARY]],
  ['binary', [...TEST, 'test/binary', 'test/dashboard', 'test/chaos', 'test/money/killed.test.ts'], BINARY],
]
const ALONE: Step[] = [
  // Nodes are killed, stopped and cut off, and others wait until their leases have ended.
  ['several processes', ['test', '--timeout', '120000', 'test/growth'], BINARY],
  ['soak', ['scripts/soak.ts', '--short'], BINARY],
  ['fuzz', ['scripts/fuzz.ts', '--short'], BINARY],
]

/** Of those that run side by side: the others end with the first that fails. */
const failing = new AbortController()
const failures: { said: string; code: number }[] = []

/** What writes openly at this moment. */
let shown = ''

/** One after the other, until one fails anywhere. `isKept`: what each writes is kept back until it has ended. */
const inTurn = async (steps: readonly Step[], isKept = false): Promise<void> => {
  for (const [name, args, env] of steps) {
    if (failing.signal.aborted) return
    const begun = performance.now()
    const code = await (isKept ? keptBack(name, args, env) : openly(name, args, env))
    if (failing.signal.aborted) return
    console.log(`${name} took ${Math.round((performance.now() - begun) / 1000)} s`)
    if (code === 0) continue
    failures.push({ said: `${name} failed (exit code ${code})`, code })
    failing.abort()
  }
}

const openly = async (name: string, args: string[], env: Record<string, string> = {}): Promise<number> => {
  shown = name
  console.log(`\n=== ${name}`)
  const code = await bun(args, env, ROOT, { signal: failing.signal })
  shown = ''
  return code
}

/** In a file, where both of its outputs keep their order. */
const keptBack = async (name: string, args: string[], env: Record<string, string> = {}): Promise<number> => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-verify-'))
  const file = join(directory, 'said')
  const into = openSync(file, 'a')
  try {
    const code = await bun(args, env, ROOT, { into, signal: failing.signal })
    console.log(`\n=== ${name}\n${readFileSync(file, 'utf8')}`)
    if (shown !== '') console.log(`=== ${shown} goes on`)
    return code
  } finally {
    closeSync(into)
    rmSync(directory, { recursive: true })
  }
}

await inTurn(FIRST)
await Promise.all([inTurn(SOURCES), inTurn(FILE, true)])
await inTurn(ALONE)
const [failure] = failures
if (failure === undefined) console.log('\nverified')
else {
  console.error(`\n${failure.said}`)
  process.exitCode = failure.code
}
