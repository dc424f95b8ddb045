// What the ledger costs over PostgreSQL: CPU of the nodes and of the database for a reservation and its settlement, and how long a
// reservation waits. Starts a server of its own.
// bun scripts/ledger-cost-postgres.ts [--in-flight 32] [--exchanges 20000] [--keys 1] [--nodes 1] [--limited] [--limits-store] [--budgets]

import { parseArgs } from 'node:util'
import { KEEPS } from '../bench/nodes.ts'
import { cpuOfServer, cpuUs } from '../bench/processes.ts'
import { createRedis, type Redis } from '../src/store/redis/client.ts'
import { createLimitsElsewhere } from '../src/store/redis/limits.ts'
import { createWindows } from '../src/store/redis/windows.ts'
import { addBudget, addKey, type NodeOptions, openLedger, type PgNode } from '../test/ledger/shared/postgres.ts'
import { ask, settlement } from '../test/ledger/support.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { startRedis } from '../test/support/redis.ts'

const { values } = parseArgs({
  options: {
    'in-flight': { type: 'string', default: '32' },
    exchanges: { type: 'string', default: '20000' },
    keys: { type: 'string', default: '1' },
    nodes: { type: 'string', default: '1' },
    limited: { type: 'boolean', default: false },
    'limits-store': { type: 'boolean', default: false },
    budgets: { type: 'boolean', default: false },
  },
})
const inFlight = Number(values['in-flight'])
const total = Number(values.exchanges)

const server = await startPostgres(KEEPS)
const ledger = await openLedger(server)
/** Counts the limits in place of the rows of keys. */
const counting = values['limits-store'] ? await startRedis() : undefined
const redises: Redis[] = []
const elsewhere: NodeOptions['limits'] = ({ name, books, keys }) => {
  const redis = createRedis(counting?.url ?? '')
  redises.push(redis)
  return createLimitsElsewhere({
    ...{ books, keys, node: name, windows: createWindows(redis), defaults: { rpm: 0, tpm: 0, concurrency: 0 } },
    shared: { raise: async () => undefined, isRaised: async () => false },
    changed: (_, cause) => console.error(cause),
  })
}
const limits = values.limited ? { rpm: 1e9, tpm: 1e12, concurrency: 1e6 } : {}
const ids: string[] = []
for (let i = 0; i < Number(values.keys); i++)
  ids.push(await addKey(ledger.admin, { tokensTotal: 1e12, ownerId: 'mem_a', ...limits }))
if (values.budgets)
  for (const budget of ['member:mem_a', 'gateway'])
    await addBudget(ledger.admin, { id: budget, unit: 'usd', amount: 1e12 })
const nodes: PgNode[] = []
for (let i = 0; i < Number(values.nodes); i++)
  nodes.push(await ledger.node(counting === undefined ? {} : { limits: elsewhere }))

const [backend] = await ledger.admin.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
const ofServer = cpuOfServer(backend?.pid ?? 0)

const ofCounting = (): number => (counting === undefined ? 0 : cpuUs(counting.pid()))

let started = 0
let waits: number[] = []
const client = async (): Promise<void> => {
  for (let i = started++; i < total; i = started++) {
    const node = nodes[i % nodes.length]
    const key = node?.cache.keys.get(ids[(i * 7919) % ids.length] ?? '')
    if (node === undefined || key === undefined) return
    const asked = ask(key, { inputEstimate: 20, outputCap: 1024, wire: 'chat-completions', stream: false })
    const ticket = await node.limits.enter(key, asked.exchangeId, true)
    const from = performance.now()
    const reservation = await node.ledger.reserve(asked)
    waits.push(performance.now() - from)
    const { written } = node.ledger.settle(
      reservation,
      settlement({
        ...{ usage: { input: 20, output: 9, cacheRead: 0, reasoning: 0 }, provider: 'vendor_b', account: 'main' },
        rawUsage: { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 },
        ...{ upstreamModel: 'vendorB-5.5', providerWire: 'chat-completions', firstByteMs: 4, totalMs: 5 },
      }),
    )
    // In one turn, as an exchange ends.
    ticket.release()
    await written
  }
}

const run = async () => {
  started = 0
  waits = []
  const [cpu, database, counted, from] = [process.cpuUsage(), ofServer(), ofCounting(), performance.now()]
  await Promise.all(Array.from({ length: inFlight }, client))
  const ms = performance.now() - from
  const { user, system } = process.cpuUsage(cpu)
  return {
    own: (user + system) / total,
    database: (ofServer() - database) / total,
    counted: (ofCounting() - counted) / total,
    ms,
    waits: waits.toSorted((a, b) => a - b),
  }
}
await run()
const { own, database, counted, ms, waits: sorted } = await run()
const at = (part: number): string => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(1)
await ledger.close()
await server.stop()
for (const redis of redises) redis.close()
await counting?.stop()
console.log(
  `${ids.length} keys, ${nodes.length} nodes, ${inFlight} in flight, ${total} exchanges: ${own.toFixed(0)} µs CPU of the nodes, ` +
    `${database.toFixed(0)} of PostgreSQL${counting === undefined ? '' : `, ${counted.toFixed(0)} of the store for limits`} each; ${Math.round(total / (ms / 1000))}/s; reserved after ${at(0.5)} ms (p50), ${at(0.99)} (p99)`,
)
