// Everything that is asked and changed while everything fails that can, by a seed; for as long as SLUICE_MINUTES says, with rests
// in between. What a client had whole is in the books once, by the tokens that it was told; nothing is overspent, nothing stays held.
// SLUICE_SEED names another lot.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { setTimeout as later } from 'node:timers/promises'
import { createChance } from '../../scripts/fuzz/chance.ts'
import type { FileConfig } from '../../src/config/schema.ts'
import { type DemoProviders, startDemoProviders } from '../../src/demo/index.ts'
import { whyNotSeveral } from '../../src/server/workers/supervisor.ts'
import { familyOf } from '../binary/support/process.ts'
import { pgBouncerMissing, startPgBouncer } from '../support/pgbouncer.ts'
import { postgresMissing, startPostgres } from '../support/postgres.ts'
import { createProxy, type Proxy as Line, through } from '../support/proxy.ts'
import { redisMissing, startRedis } from '../support/redis.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { sample } from './books.ts'
import { type Fleet, type Node, until } from './fleet.ts'
import { IS_LONG, startOnFile } from './forms.ts'
import { startAdministration } from './mixed/administration.ts'
import { type Faults, faultsOfNodes, faultsOfWorkers } from './mixed/faults.ts'
import { EMBEDDING, startTraffic, type Whole } from './mixed/traffic.ts'
import { startNodes } from './nodes.ts'
import { slack, took } from './took.ts'

const stopping = stopsAfterEach()

const MINUTES = Number(process.env.SLUICE_MINUTES ?? (IS_LONG ? 5 : 0))
const SEED = Number(process.env.SLUICE_SEED ?? 1)
/** What stands still or falls silent does so for longer than leases last and requests wait. */
const STILL_MS = IS_LONG ? 10_000 : 1_000
/** Between two rests, and between two faults. */
const ROUND_MS = 5 * 60_000
const BETWEEN_MS = IS_LONG ? 8_000 : 100
const CLIENTS = Number(process.env.SLUICE_CLIENTS ?? (IS_LONG ? 24 : 8))
const PAUSE_MS = IS_LONG ? 1_000 : 20
/** The books of many exchanges are long to read. */
const LOOK_MS = IS_LONG ? 2_000 : 100
/** What is open settles within this once nothing is asked. */
const SETTLED_MS = 60_000

/** `live`: those that run now. */
type Mixed = { fleet: Fleet; live: () => readonly Node[]; faults: Faults; open: string[] }

const fileFor = ({ vendorA, vendorB }: DemoProviders): FileConfig => {
  const twice = ({ baseUrl, apiKey }: DemoProviders['vendorA']) => ({
    accounts: ['one', 'two'].map((name) => ({ name, base_url: baseUrl, credential: apiKey })),
  })
  return {
    providers: { vendor_a: twice(vendorA), vendor_b: twice(vendorB) },
    models: { [EMBEDDING]: { provider: 'vendor_b', upstream: 'text-embedding-3-small', kind: 'embedding' } },
  }
}

const chanceOf = (part: number) => createChance(SEED * 10 + part)

/** Three, each with a line of its own to the database, the second by way of PgBouncer. */
const mixedNodes = async (vendors: DemoProviders): Promise<Mixed> => {
  const server = stopping(await startPostgres())
  const bouncer = stopping(await startPgBouncer(server.port, 20))
  const redis = stopping(await startRedis())
  const lines: Line[] = []
  for (const port of [server.port, bouncer.port, server.port]) lines.push(await createProxy(port))
  stopping({ stop: async () => void lines.map((line) => line.close()) })
  const slotOf: number[] = [0, 1, 2]
  const nodes = stopping(
    await startNodes(3, fileFor(vendors), {
      server,
      store: (url, index) => through(url, lines[slotOf[index] ?? 0] as Line),
      env: () => ({ SLUICE_KEY: 'ab'.repeat(32), SLUICE_LIMITS_STORE: redis.url }),
    }),
  )
  const slots = [...nodes.all]
  const start = (slot: number): Promise<Node> => {
    slotOf[nodes.all.length] = slot
    return nodes.start()
  }
  return {
    ...{ fleet: nodes, live: () => slots, open: ['reservations', 'entered'] },
    faults: faultsOfNodes({ ...{ chance: chanceOf(1), nodes, slots, start, lines, server, redis }, stillMs: STILL_MS }),
  }
}

const mixedWorkers = async (vendors: DemoProviders): Promise<Mixed> => {
  const fleet = stopping(await startOnFile({ workers: 2, ...fileFor(vendors) }))
  return {
    ...{ fleet, live: () => fleet.all, open: ['reservations'] },
    faults: faultsOfWorkers({ chance: chanceOf(1), fleet, stillMs: STILL_MS }),
  }
}

const TOKENS = 'coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0) + coalesce(output, 0)'
type Row = { id: string; key_id: string; outcome: string; tokens: number }

/** Of what clients had whole, what is not in the books once by its tokens. */
const unbilled = (whole: readonly Whole[], rows: readonly Row[]): object[] => {
  const byId = Map.groupBy(rows, ({ id }) => id)
  const wrong: object[] = whole.flatMap((one) => {
    if (one.id === undefined) return []
    const found = byId.get(one.id) ?? []
    const [row] = found
    return found.length === 1 && row?.outcome === 'done' && row.tokens === one.tokens ? [] : [{ ...one, found }]
  })
  // Whose id nobody was told is there as often as it was had.
  const same = ({ keyId, tokens }: { keyId: string; tokens: number }): string => `${keyId} ${tokens}`
  const done = rows.filter(({ outcome }) => outcome === 'done')
  const had = Map.groupBy(done, ({ key_id: keyId, tokens }) => same({ keyId, tokens }))
  for (const [words, all] of Map.groupBy(whole, same))
    if ((had.get(words)?.length ?? 0) < all.length) wrong.push({ words, ...all[0] })
  return wrong
}

const megabytes = ({ child }: Node): number =>
  familyOf(child.pid).reduce((sum, pid) => {
    const [, kilobytes] = /^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return sum + Math.round(Number(kilobytes ?? 0) / 1024)
  }, 0)

const FORMS = [
  {
    name: 'three nodes, one behind PgBouncer, with limits in a store of their own',
    missing: postgresMissing ?? pgBouncerMissing ?? redisMissing,
    start: mixedNodes,
  },
  { name: 'two processes over a file', missing: whyNotSeveral(), start: mixedWorkers },
]

describe.each(FORMS)('$name', ({ missing, start }) => {
  test.skipIf(missing !== undefined)(
    'lose, double and keep nothing',
    async () => {
      const vendors = stopping(await startDemoProviders({ delayMs: 3, record: 0 }))
      const { fleet, live, faults, open } = await start(vendors)
      const administration = await startAdministration({ chance: chanceOf(2), nodes: live, pauseMs: PAUSE_MS })
      const room = { id: '', secret: fleet.secret }
      const traffic = startTraffic({
        ...{ chance: chanceOf(3), nodes: live, clients: CLIENTS, pauseMs: PAUSE_MS },
        keys: () => administration.keys,
      })
      const sampler = sample(fleet.reading, LOOK_MS)
      const lot = chanceOf(4)
      const drawn = new Map<string, number>()

      const allServe = async (fault: string): Promise<void> => {
        const served = took(`all serve after: ${fault}`)
        const serves = async (node: Node): Promise<boolean> => {
          const response = await node.ask(room.secret, { model: 'vendorB-5.4-mini' }).catch(() => undefined)
          await response?.text()
          return response?.status === 200
        }
        for (const at of live().keys()) await until(() => serves(live()[at] as Node), SETTLED_MS * slack())
        served()
      }
      const fail = async (): Promise<void> => {
        const name = lot.pick(Object.keys(faults))
        drawn.set(name, (drawn.get(name) ?? 0) + 1)
        console.info(`${new Date().toISOString()} ${name}`)
        await faults[name]?.()
        await allServe(name)
        await later(lot.below(2 * BETWEEN_MS))
      }
      const isSettled = async (): Promise<boolean> => {
        for (const table of open) if ((await fleet.reading.query(`SELECT 1 FROM ${table}`)).length > 0) return false
        return true
      }
      const rest = async (): Promise<void> => {
        await traffic.rest()
        const settled = took('settled')
        await until(isSettled, SETTLED_MS * slack())
        settled()
        const rows = await fleet.reading.query<Row>(`SELECT id, key_id, outcome, ${TOKENS} AS tokens FROM exchanges`)
        const [ends, faulted] = [Object.fromEntries(traffic.ends), Object.fromEntries(drawn)]
        const memory = live().map((node) => `${megabytes(node)} MB`)
        const odd = [...traffic.odd, ...administration.odd]
        console.info(JSON.stringify({ rows: rows.length, changes: administration.made(), ends, faulted, memory, odd }))
        expect(unbilled(traffic.whole, rows)).toEqual([])
        traffic.resume()
      }

      const end = performance.now() + MINUTES * 60_000
      do {
        const round = Math.min(end, performance.now() + ROUND_MS)
        do await fail()
        while (performance.now() < round)
        await rest()
      } while (performance.now() < end)
      await administration.stop()
      await traffic.stop()
      await until(isSettled, SETTLED_MS * slack())
      await sampler.sound()
      await fleet.books()
      expect([...traffic.odd, ...administration.odd]).toEqual([])
      expect(traffic.whole.length).toBeGreaterThan(0)
    },
    (MINUTES + 15) * 60_000,
  )
})
