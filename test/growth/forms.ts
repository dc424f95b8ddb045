// The forms in which people run a gateway: one process, several that share its file, nodes over PostgreSQL. As the compiled file
// where SLUICE_BINARY names it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileConfig } from '../../src/config/schema.ts'
import { whyNotSeveral } from '../../src/server/workers/supervisor.ts'
import { openStore } from '../../src/store/sqlite/index.ts'
import { launch, PROGRAM } from '../binary/support/process.ts'
import { postgresMissing, startPostgres } from '../support/postgres.ts'
import { fileBooks } from './books.ts'
import { clockOff } from './clocks.ts'
import { type Fleet, fleetOf, letIn, nodeAt, type Prepare } from './fleet.ts'
import { startNodes } from './nodes.ts'

type FormOptions = {
  prepare?: Prepare
  /** What decides about time is so far ahead. */
  aheadMs?: number
}

/** In a folder; with more than one worker, several processes. */
export const startOnFile = async (file: FileConfig, { prepare, aheadMs }: FormOptions = {}): Promise<Fleet> => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-growth-'))
  const content = { listen: { port: 0 }, data: './data', drain: '1s', log: { level: 'warn' }, ...file }
  writeFileSync(join(directory, 'sluice.yaml'), JSON.stringify({ metrics: { enabled: true }, ...content }))
  const path = join(directory, 'data', 'sluice.db')
  const store = openStore(path)
  const people = await letIn(store)
  await prepare?.(store)
  await store.close()
  const child = launch(PROGRAM, ['serve'], directory, aheadMs === undefined ? {} : clockOff(aheadMs))
  const node = nodeAt(await child.ready(), child, directory, people)
  const reading = fileBooks(path)
  const { killAll, ...fleet } = fleetOf([node], reading, people)
  return {
    ...fleet,
    async stop() {
      await killAll()
      await reading.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export type Form = {
  name: string
  /** Why it cannot be had here. */
  missing: string | undefined
  start(file: FileConfig, options?: FormOptions): Promise<Fleet>
}

const startNodesAhead =
  (count: number): Form['start'] =>
  async (file, { prepare, aheadMs } = {}) => {
    if (aheadMs === undefined) return startNodes(count, file, { prepare })
    const server = await startPostgres([], clockOff(aheadMs))
    const fleet = await startNodes(count, file, { prepare, server })
    return {
      ...fleet,
      async stop() {
        await fleet.stop()
        await server.stop()
      },
    }
  }

const nodes = (count: number): Form => ({
  name: `${count} ${count === 1 ? 'node' : 'nodes'}`,
  missing: postgresMissing,
  start: startNodesAhead(count),
})

/** All that there is for `bun run test:growth`, one of each kind else. */
export const IS_LONG = process.env.SLUICE_GROWTH === 'long'

const ONE: Form = { name: 'one process', missing: undefined, start: startOnFile }
/** Of two the one that keeps the books serves; of more it does not. */
const several = (workers: number): Form => ({
  name: `${workers} workers`,
  missing: whyNotSeveral(),
  start: (file, options) => startOnFile({ workers, ...file }, options),
})

export const FORMS: readonly Form[] = [ONE, several(2), several(3), ...(IS_LONG ? [1, 2, 4] : [2]).map(nodes)]
