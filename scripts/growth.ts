// The long form of what several processes are held to: the model of the shared ledger played a thousand times, the tests of the
// compiled file with three processes in place of one, and nodes over PostgreSQL. Takes some ten minutes.

import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const SLUICE_BINARY = join(ROOT, 'dist', 'sluice')

const run = async (words: string[], env: Record<string, string> = {}): Promise<void> => {
  const child = Bun.spawn([process.execPath, ...words], {
    ...{ cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] },
    env: { ...process.env, ...env },
  })
  if ((await child.exited) !== 0) process.exit(1)
}

const TEST = ['test', '--timeout', '60000']

await run(['scripts/build.ts'])
await run([...TEST, 'test/ledger/shared'], { SLUICE_GROWTH_RUNS: '1000' })
await run([...TEST, 'test/growth'], { SLUICE_BINARY })
// What they hold in memory is that of several processes, which the bounds of the tests of load do not count with.
const CHAOS = ['protocol', 'failover', 'log', 'silence', 'providers', 'arrival', 'bytes', 'operations']
await run([...TEST, ...CHAOS.map((name) => `test/chaos/${name}.test.ts`)], { SLUICE_BINARY, SLUICE_WORKERS: '3' })
