// Everything that must hold, from an empty checkout: install, lint, types, tests, the binary, that it is the same in any
// folder, its tests, those of several of its processes, ten seconds of mixed load on it and twenty of malformed requests.

import { bun, install, ROOT } from './run.ts'

const BINARY = { SLUICE_BINARY: `${ROOT}/dist/sluice`, SLUICE_KILLS: '20' }
const TEST = ['run', 'test']

const steps: [string, () => Promise<number>][] = [
  ['install', install],
  ['lint', () => bun(['x', '--bun', 'biome', 'check', '.'])],
  ['types', () => bun(['run', '--bun', 'typecheck'])],
  // Whole servers and pages are tested by the compiled file alone.
  ['tests', () => bun([...TEST, '--path-ignore-patterns=test/{growth,chaos,dashboard/page}/**'])],
  ['build', () => bun(['scripts/build.ts'])],
  ['same bytes', () => bun(['scripts/reproducible.ts', BINARY.SLUICE_BINARY])],
  ['binary', () => bun([...TEST, 'test/binary', 'test/dashboard', 'test/chaos', 'test/money/killed.test.ts'], BINARY)],
  // Nodes are killed, stopped and cut off, and others wait until their leases have ended.
  ['several processes', () => bun(['test', '--timeout', '60000', 'test/growth'], BINARY)],
  ['soak', () => bun(['scripts/soak.ts', '--short'], BINARY)],
  ['fuzz', () => bun(['scripts/fuzz.ts', '--short'], BINARY)],
]

for (const [name, run] of steps) {
  console.log(`\n=== ${name}`)
  const code = await run()
  if (code !== 0) {
    console.error(`\n${name} failed (exit code ${code})`)
    process.exit(code)
  }
}
console.log('\nverified')
