// What a small answer costs each part of docs/scale in processor time: three nodes, their database and HAProxy, begun as its files
// say. Who asks and who answers are this process, and are not counted.
// SLUICE_BINARY=dist/sluice bun scripts/scale-cost.ts [--answers 6000] [--clients 32] [--stream]

import { parseArgs } from 'node:util'
import { cpuOfServer, cpuUs } from '../bench/processes.ts'
import { providersAt } from '../test/chaos/support/gateway.ts'
import { CHAT, streamed, whole } from '../test/chaos/support/stories.ts'
import { startComposed } from '../test/growth/composed.ts'
import { startScripted } from '../test/support/provider/scripted.ts'

const { values } = parseArgs({
  options: {
    answers: { type: 'string', default: '6000' },
    clients: { type: 'string', default: '32' },
    stream: { type: 'boolean', default: false },
  },
})
const total = Number(values.answers)

const vendor = await startScripted(() => (values.stream ? streamed(CHAT) : whole(CHAT)))
const all = await startComposed({ providers: providersAt({ b: [vendor.origin] }) })
await all.up(3)

const [backend] = await all.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
const parts: Record<string, () => number> = {
  nodes: () => all.nodes.reduce((sum, { child }) => sum + cpuUs(child.pid), 0),
  PostgreSQL: cpuOfServer(backend?.pid ?? 0),
  HAProxy: () => cpuUs(all.haproxy.pid),
}

const ask = async (): Promise<void> => {
  const response = await fetch(all.url + CHAT.path, {
    method: 'POST',
    headers: { authorization: `Bearer ${all.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...CHAT.request(values.stream), max_tokens: 100 }),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(text)
}
const run = async (count: number): Promise<void> => {
  let asked = 0
  const client = async (): Promise<void> => {
    while (asked++ < count) await ask()
  }
  await Promise.all(Array.from({ length: Number(values.clients) }, client))
}

await run(Math.ceil(total / 3))
const before = Object.entries(parts).map(([name, read]) => [name, read()] as const)
await run(total)
const told = before.map(([name, was]) => `${name} ${(((parts[name]?.() ?? was) - was) / total).toFixed(0)} µs`)
console.log(
  `${total} answers${values.stream ? ' in streams' : ''}, ${values.clients} at once, ${all.nodes.length} nodes: ${told.join(', ')}`,
)
await all.stop()
await vendor.stop()
process.exit(0)
