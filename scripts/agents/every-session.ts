// Plays a session of each agent with a model of each wire, or of those agents that are named, and tells what was wrong.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { LOOPBACK_ONLY } from '../../test/support/loopback-only.ts'
import { startBench } from '../../test/wire/matrix/bench.ts'

type Bench = Awaited<ReturnType<typeof startBench>>

/** `home`, `work`: folders of this session alone. `connect`: the command, for which alone `env` has the key. */
export type Place<Agent> = {
  agent: Agent
  vendor: ChatWire
  bench: Bench
  home: string
  work: string
  env: Record<string, string>
  connect: string[]
}

/** `counted`: what came of it, in words. */
type Outcome = { counted: string; faults: string[] }

/** Of the command line `--folder FOLDER [NAME…]`. Ends the process: with 1 where anything was wrong. Folders stay with KEEP set. */
export const playEvery = async <Agent>(
  title: string,
  agents: Record<string, Agent>,
  session: (place: Place<Agent>) => Promise<Outcome>,
): Promise<never> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { folder: { type: 'string', default: '' } },
  })
  const PATH = `${join(resolve(values.folder), 'node_modules', '.bin')}:${process.env.PATH}`
  const root = mkdtempSync(join(tmpdir(), `sluice-${title}-`))
  const bench = await startBench()
  const main = join(import.meta.dir, '..', '..', 'src', 'main.ts')
  let faulty = false
  const play = async (name: string, agent: Agent, vendor: ChatWire): Promise<void> => {
    const home = join(root, `${name}-${vendor}`)
    const work = join(home, 'work')
    mkdirSync(work, { recursive: true })
    const { url, secret } = bench.gateway
    const env = {
      PATH,
      HOME: home,
      TERM: 'dumb',
      CI: '1',
      SLUICE_SERVER: url,
      SLUICE_API_KEY: secret,
      ...LOOPBACK_ONLY,
    }
    const connect = [process.execPath, main, 'connect', name, '--model', bench.model(vendor)]
    const { counted, faults } = await session({ agent, vendor, bench, home, work, env, connect })
    console.log(`${name} on ${vendor}: ${counted}, ${faults.length} faults`)
    for (const fault of faults) console.log(`   ${fault}`)
    faulty ||= faults.length > 0
  }
  try {
    for (const [name, agent] of Object.entries(agents)) {
      if (positionals.length > 0 && !positionals.includes(name)) continue
      for (const vendor of CHAT_WIRES) await play(name, agent, vendor)
    }
  } finally {
    await bench.stop()
    if (process.env.KEEP === undefined) rmSync(root, { recursive: true, force: true })
    else console.log(root)
  }
  process.exit(faulty ? 1 : 0)
}
