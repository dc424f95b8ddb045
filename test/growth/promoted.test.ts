// A standby that takes over from a PostgreSQL that is lost, under nodes whose URL names both.

import { describe, expect, test } from 'bun:test'
import { createClient } from '../../src/store/postgres/client.ts'
import { providersAt } from '../chaos/support/gateway.ts'
import { CHAT, streamed } from '../chaos/support/stories.ts'
import { pgBouncerMissing, startPgBouncer } from '../support/pgbouncer.ts'
import { type OwnServer, postgresMissing, startPostgres } from '../support/postgres.ts'
import { gate, startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { begun, until } from './fleet.ts'
import { IS_LONG } from './forms.ts'
import { endedOtherwise, requireBilled, startLoad, varied } from './load.ts'
import { type How, startNodes } from './nodes.ts'
import { took } from './took.ts'

const stopping = stopsAfterEach()

/** Its databases, by a URL that names the standby too. */
const withStandby = (server: OwnServer, standbyPort: number): OwnServer => ({
  ...server,
  async database() {
    const { url } = await server.database()
    // It ends with the servers.
    return { url: url.replace(/@([^/]*)/, `@$1,127.0.0.1:${standbyPort}`), drop: async () => undefined }
  },
})

const start = async (count: number, isPooled = false) => {
  const primary = stopping(await startPostgres())
  const standby = stopping(await primary.standby())
  const pooler = isPooled ? stopping(await startPgBouncer(primary.port, 6)) : undefined
  const asAdmin = createClient(`postgres://sluice@127.0.0.1:${primary.port}/postgres`, { max: 1 })
  stopping({ stop: () => asAdmin.close() })
  const over = gate()
  const vendor = stopping(
    await startScripted((request, index) =>
      JSON.parse(request.text).user === 'slow'
        ? streamed(CHAT, CHAT.word('one'), over, CHAT.word('two'))
        : varied(request, index),
    ),
  )
  const server = withStandby(primary, standby.port)
  const how: How = { server }
  if (pooler !== undefined) how.store = (url) => url.replace(/@[^/]*/, `@127.0.0.1:${pooler.port}`)
  const nodes = stopping(await startNodes(count, { providers: providersAt({ b: [vendor.origin] }) }, how))
  const streams = await Promise.all(
    nodes.all.flatMap((node) => [1, 2].map(() => begun(node, nodes.secret, { user: 'slow' }))),
  )
  const load = startLoad(nodes, { secrets: [nodes.secret], clients: 12 })
  await until(() => load.done() > 50, 60_000)
  return {
    ...{ primary, standby, pooler, asAdmin, nodes, over, load },
    async beSynchronous() {
      await asAdmin.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
      await asAdmin.query('SELECT pg_reload_conf()')
      const isSynchronous = () => asAdmin.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
      await until(async () => (await isSynchronous()).length > 0)
      // Who commits waits for it from when the checkpointer has read that; what was committed before may still be on its way.
      await asAdmin.query('CHECKPOINT')
      const [now] = await asAdmin.query<{ at: string }>('SELECT pg_current_wal_lsn()::text AS at')
      const hasAll = () => asAdmin.query('SELECT 1 FROM pg_stat_replication WHERE flush_lsn >= $1::pg_lsn', [now?.at])
      await until(async () => (await hasAll()).length > 0)
    },
    /** What must be so wherever the standby was when it took over: answers go on, and nothing is left held. */
    async goesOn() {
      const served = took(`serve after a standby took over (${count})`, IS_LONG ? 5_000 : undefined)
      const before = load.done()
      await until(() => load.done() > before, 60_000)
      served()
      await until(() => load.done() > before + 50, 60_000)
      over.open()
      for (const { rest } of streams) expect(await rest).toContain('[DONE]')
      const tally = await load.stop()
      await until(async () => (await nodes.query('SELECT 1 FROM reservations')).length === 0, 60_000)
      expect(endedOtherwise(tally, '503')).toEqual([])
      return { tally, rows: await nodes.books() }
    },
  }
}

describe.skipIf(postgresMissing !== undefined)('nodes whose database is taken over by a standby', () => {
  test('lose nothing of what clients had whole where it is synchronous', async () => {
    const { primary, standby, beSynchronous, goesOn } = await start(IS_LONG ? 4 : 2)
    await beSynchronous()
    await primary.halt('immediate')
    await standby.promote()
    const { tally, rows } = await goesOn()
    requireBilled(tally, rows)
  }, 180_000)

  test.skipIf(pgBouncerMissing !== undefined)(
    'nor where a pooler is led to it, and they know of neither',
    async () => {
      const { primary, standby, pooler, beSynchronous, goesOn } = await start(IS_LONG ? 4 : 2, true)
      await beSynchronous()
      await primary.halt('immediate')
      await standby.promote()
      await pooler?.leadTo(standby.port)
      const { tally, rows } = await goesOn()
      requireBilled(tally, rows)
    },
    180_000,
  )

  test('believe what it has where it had fallen behind: its books are whole, and nothing is there twice or left held', async () => {
    const { primary, standby, asAdmin, load, goesOn } = await start(IS_LONG ? 4 : 2)
    const [sender] = await asAdmin.query<{ pid: number }>('SELECT pid FROM pg_stat_replication')
    // By 0 it would be this process and all of its group.
    if (sender === undefined) throw new Error('No standby is connected to the server.')
    process.kill(sender.pid, 'SIGSTOP')
    const before = load.done()
    await until(() => load.done() > before + 50, 60_000)
    await primary.halt('immediate')
    await standby.promote()
    const { tally, rows } = await goesOn()
    const known = new Set(rows.map(({ id }) => id))
    const lost = [...tally.whole.keys()].filter((id) => !known.has(id))
    // What the other had granted or settled by itself.
    expect(lost.length).toBeGreaterThan(0)
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
    // What was granted there, and ended longer ago than nodes say again, is given back.
    for (const { id, outcome, input } of rows) if (outcome === 'failed' && input === null) known.delete(id)
    requireBilled({ ...tally, whole: new Map([...tally.whole].filter(([id]) => known.has(id))) }, rows)
  }, 180_000)
})
