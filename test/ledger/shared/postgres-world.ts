// The same over PostgreSQL: time passes in the database too when the test says.

import type { Key, NewKey } from '../../../src/keys/key.ts'
import { createFlag } from '../../../src/store/postgres/jobs.ts'
import { createRedis, type Redis } from '../../../src/store/redis/client.ts'
import { createLimitsElsewhere } from '../../../src/store/redis/limits.ts'
import { createWindows } from '../../../src/store/redis/windows.ts'
import type { TestRedis } from '../../support/redis.ts'
import { addKey, type NodeOptions, openLedger, type PgNode } from './postgres.ts'
import { beginAt, type Clock, mortal, type Playable, type PlayedNode } from './world.ts'

/** Nothing happens by itself. */
const STILL = { leaseMs: 1e9, beatMs: 1e9, sweepMs: 1e9, netMs: 1e9, reserveMs: 2_000, sayMs: 2_000 }
const START = Date.UTC(2026, 8, 1, 12)

type Node = PlayedNode & { pg: PgNode; life: ReturnType<typeof mortal>; busy(): boolean }

/** `server`: counts the limits. */
export const createPgWorld = async (
  given: Partial<NewKey>[],
  nodeCount: number,
  server?: TestRedis,
): Promise<Playable> => {
  const clock: Clock = { ms: 0 }
  const ledger = await openLedger()
  const { admin } = ledger
  await admin.query('CREATE TABLE test_clock AS SELECT $1::bigint AS ms', [START])
  await admin.query(
    'CREATE OR REPLACE FUNCTION sluice_now() RETURNS bigint LANGUAGE sql VOLATILE AS $$ SELECT ms FROM test_clock $$',
  )
  const keyIds: string[] = []
  for (const each of given) keyIds.push(await addKey(admin, each))

  const time = `clock:${crypto.randomUUID()}`
  await server?.client.set(time, `${START}`)
  const redises = new Map<string, Redis>()
  const limitsAt = (url: string): NonNullable<NodeOptions['limits']> => {
    return ({ name, books, keys }) => {
      const redis = createRedis(url)
      redises.set(name, redis)
      return createLimitsElsewhere({
        ...{ books, keys, node: name, defaults: { rpm: 0, tpm: 0, concurrency: 0 }, stopwatch: () => clock.ms },
        windows: createWindows(redis, `local now = tonumber(redis.call('GET', '${time}'))`),
        shared: createFlag(admin, 'limits in the database', name, 3_000),
        changed: () => undefined,
      })
    }
  }

  const newNode = async (): Promise<Node> => {
    const life = mortal()
    const pg = await ledger.node({
      ...{ timing: STILL, timers: life.timers, clock: () => START + clock.ms },
      ...(server === undefined ? {} : { limits: limitsAt(server.url) }),
    })
    let under = 0
    const { line, books, elsewhere } = pg
    line.to = {
      async carry(group) {
        under++
        try {
          return await (elsewhere ?? books).carry(group)
        } finally {
          under--
        }
      },
    }
    return { ...pg, pg, life, alive: true, busy: () => under > 0, begin: beginAt(pg) }
  }
  const nodes = await Promise.all(Array.from({ length: nodeCount }, newNode))
  const first = (): Node => {
    const [node] = nodes
    if (node === undefined) throw new Error('there are no nodes')
    return node
  }

  const world: Playable = {
    ...{ keyIds, clock, nodes },
    key(at): Key {
      const key = first().pg.cache.keys.get(keyIds[at] ?? '')
      if (key === undefined) throw new Error('there is no such key')
      return key
    },
    async turns() {
      for (let i = 0; i < 4; i++) {
        for (let j = 0; j < 3; j++) await new Promise<void>((resolve) => setImmediate(resolve))
        while (nodes.some((node) => node.busy())) await Bun.sleep(1)
      }
    },
    async wait(ms = 0) {
      clock.ms += ms
      await admin.query('UPDATE test_clock SET ms = $1', [START + clock.ms])
      await server?.client.set(time, `${START + clock.ms}`)
      for (const node of nodes) await node.pg.elsewhere?.look()
      for (const node of nodes) node.life.wait()
      await world.turns()
    },
    /** Every connection breaks, and what is in no database is gone. */
    async restart() {
      if (server !== undefined) {
        await server.halt()
        await server.start()
        await server.client.set(time, `${START + clock.ms}`)
      }
      await admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
      )
      await world.turns()
    },
    async killNode(at) {
      const node = nodes[at]
      if (node === undefined) return
      node.alive = false
      node.life.kill()
      await node.pg.kill()
      redises.get(node.name)?.close()
      nodes[at] = await newNode()
      await admin.query('UPDATE nodes SET steady_since = 0, until = CASE id WHEN $1 THEN 0 ELSE until END', [node.name])
      await nodes[at].pg.books.sweep()
    },
    async finish() {
      for (const node of nodes) node.line.heal()
      for (let i = 0; i < 12; i++) await world.wait(1_000)
      await Promise.all(nodes.map((node) => node.said()))
      for (const node of nodes) await node.pg.books.net(1)
    },
    async revoke(at) {
      await admin.query('UPDATE keys SET revoked_at = 1, version = version + 1 WHERE id = $1', [keyIds[at] ?? ''])
    },
    async standing(id) {
      const [row] = await admin.query<{ used: number; held: number; total: number; rpm: number | null }>(
        'SELECT tokens_used AS used, tokens_held AS held, tokens_total AS total, rpm FROM keys WHERE id = $1',
        [id],
      )
      if (row === undefined) throw new Error('the key is gone')
      return { ...row, rpm: row.rpm ?? undefined }
    },
    openCount: () => first().pg.books.openCount(),
    exchanges: () =>
      admin.query(
        'SELECT id, key_id AS "keyId", outcome, input, output, input_estimate AS "inputEstimate" FROM exchanges',
      ),
    enter: (at) => first().limits.enter(world.key(at), crypto.randomUUID()),
    async close() {
      for (const node of nodes) node.life.kill()
      await ledger.close()
      for (const redis of redises.values()) redis.close()
    },
  }
  return world
}
