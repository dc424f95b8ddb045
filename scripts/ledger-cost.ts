// What the ledger costs: CPU and pages written per exchange, many exchanges in flight, on a database on disk.
// bun scripts/ledger-cost.ts [--in-flight 32] [--exchanges 100000] [--keys 1] [--data DIR (one that was seeded)]

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createLedger } from '../src/ledger/create.ts'
import { openStore } from '../src/store/sqlite/index.ts'

const { values } = parseArgs({
  options: {
    'in-flight': { type: 'string', default: '32' },
    exchanges: { type: 'string', default: '100000' },
    keys: { type: 'string', default: '1' },
    data: { type: 'string' },
  },
})
const inFlight = Number(values['in-flight'])
const total = Number(values.exchanges)
const folder = values.data ?? mkdtempSync(join(tmpdir(), 'sluice-cost-'))
const store = openStore(join(folder, 'sluice.db'))
const began = performance.now()
const price = { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 }
const ledger = createLedger({ store, clock: Date.now, prices: () => () => price })
const unwatch = store.watch()
const issue = async (i: number) =>
  (
    await store.keys.issue(
      { label: `cost ${i}`, tokensTotal: 1e12, expiresAt: Date.now() + 86_400_000, models: ['*'] },
      { kind: 'system', id: 'cost' },
    )
  ).key
// Keys that are there have a past: their part of an index is as cold as it is in use.
const keys = store.keys.list().slice(0, Number(values.keys))
while (keys.length < Number(values.keys)) keys.push(await issue(keys.length))

/** Bytes this process has given to the system to write; 0 where it does not tell. */
const written = (): number => {
  try {
    return Number(/^wchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

let started = 0
const worker = async (): Promise<void> => {
  for (let i = started++; i < total; i = started++) {
    const key = keys[(i * 7919) % keys.length]
    if (key === undefined) return
    const reservation = await ledger.reserve({
      exchangeId: `req_${Bun.randomUUIDv7('base64url')}`,
      key,
      model: 'vendorB-5.5',
      wire: 'chat-completions',
      stream: false,
      inputEstimate: 20,
      outputCap: 1024,
      maxOutput: 32_000,
    })
    for (let waits = i % 3; waits >= 0; waits--) await turn()
    ledger.settle(reservation, {
      outcome: 'done',
      usage: { input: 20, output: 9, cacheRead: 0, reasoning: 0 },
      estimated: false,
      rawUsage: { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 },
      status: 200,
      model: 'vendorB-5.5',
      provider: 'vendor_b',
      account: 'main',
      upstreamModel: 'vendorB-5.5',
      providerWire: 'chat-completions',
      attempts: 1,
      firstByteMs: 4,
      totalMs: 5,
      trail: [{ provider: 'vendor_b', account: 'main', model: 'vendorB-5.5', wire: 'chat-completions', ms: 4 }],
    })
  }
}
const run = async (): Promise<{ us: number; bytes: number; longestMs: number; ms: number }> => {
  started = 0
  let over = false
  let longestMs = 0
  const watching = (async () => {
    for (let last = performance.now(); !over; ) {
      await turn()
      const now = performance.now()
      longestMs = Math.max(longestMs, now - last)
      last = now
    }
  })()
  const [cpu, bytes, from] = [process.cpuUsage(), written(), performance.now()]
  await Promise.all(Array.from({ length: inFlight }, worker))
  await ledger.flush()
  const { user, system } = process.cpuUsage(cpu)
  const ms = performance.now() - from
  over = true
  await watching
  return { us: user + system, bytes: written() - bytes, longestMs, ms }
}

const readyMs = performance.now() - began
await run()
const { us, bytes, longestMs, ms } = await run()
unwatch()
await store.close()
if (values.data === undefined) rmSync(folder, { recursive: true, force: true })
console.log(
  `${keys.length} keys, ${inFlight} in flight, ${total} exchanges: ${(us / total).toFixed(1)} µs CPU, ` +
    `${(bytes / 4120 / total).toFixed(2)} pages each; ${Math.round(total / (ms / 1000))}/s; ` +
    `longest turn ${longestMs.toFixed(1)} ms; ready in ${readyMs.toFixed(0)} ms`,
)
