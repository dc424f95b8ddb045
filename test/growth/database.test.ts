// A PostgreSQL that is restarted, has no connection left, refuses a row, or stands behind a pooler; and nodes whose clocks are off.

import { describe, expect, test } from 'bun:test'
import { createClient } from '../../src/store/postgres/client.ts'
import { providersAt } from '../chaos/support/gateway.ts'
import { CHAT, streamed } from '../chaos/support/stories.ts'
import { pgBouncerMissing, startPgBouncer } from '../support/pgbouncer.ts'
import { type OwnServer, postgresMissing, startPostgres, type TestServer, testPostgres } from '../support/postgres.ts'
import { gate, type Handler, startScripted } from '../support/provider/scripted.ts'
import { through } from '../support/proxy.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { sample } from './books.ts'
import { clockMissing, clockOff } from './clocks.ts'
import { begun, type Node, statusOf, until } from './fleet.ts'
import { IS_LONG } from './forms.ts'
import { endedOtherwise, requireBilled, startLoad, varied } from './load.ts'
import { type How, type Nodes, startNodes } from './nodes.ts'
import { took } from './took.ts'

const stopping = stopsAfterEach()

/** With `user: slow` a stream stays after its first word until `over`. */
const withSlow = () => {
  const over = gate()
  const handler: Handler = (request, index) =>
    JSON.parse(request.text).user === 'slow'
      ? streamed(CHAT, CHAT.word('one'), over, CHAT.word('two'))
      : varied(request, index)
  return { over, handler }
}
const start = async (count: number, how: How = {}) => {
  const { over, handler } = withSlow()
  const vendor = stopping(await startScripted(handler))
  const nodes = stopping(await startNodes(count, { providers: providersAt({ b: [vendor.origin] }) }, how))
  return { nodes, over }
}
const slowStream = (node: Node, secret: string) => begun(node, secret, { user: 'slow' })
const nothingOpen = (nodes: Nodes): Promise<void> =>
  until(async () => (await nodes.query('SELECT 1 FROM reservations')).length === 0, 40_000)

/** Databases with a setting of their own. */
const set = (server: TestServer, setting: string): TestServer => ({
  ...server,
  async database() {
    const made = await server.database()
    const client = createClient(made.url, { max: 1 })
    await client.query(`ALTER DATABASE ${new URL(made.url).pathname.slice(1)} SET ${setting}`)
    await client.close()
    return made
  },
})

const clocksOff = (index: number): Record<string, string> => clockOff(index % 2 === 0 ? -3_600_000 : 3_600_000)

type Day = { name: string; missing?: string | undefined; how(): Promise<How> }

const inOrder = async (): Promise<TestServer> =>
  set(await testPostgres(), 'default_transaction_isolation = serializable')
const pooled = async (words = '?prepare=false'): Promise<NonNullable<How['store']>> => {
  const { port } = stopping(await startPgBouncer((await testPostgres()).port, 6))
  return (url) => through(url, { port }) + words
}
const APART: Day[] = [
  { name: 'with one connection each', how: async () => ({ store: (url) => `${url}?connections=1` }) },
  { name: 'where transactions are to be in order', how: async () => ({ server: await inOrder() }) },
  { name: 'behind PgBouncer', missing: pgBouncerMissing, how: async () => ({ store: await pooled() }) },
  { name: 'behind PgBouncer, unsaid', missing: pgBouncerMissing, how: async () => ({ store: await pooled('') }) },
  { name: 'with clocks that are an hour off', missing: clockMissing, how: async () => ({ env: clocksOff }) },
]
const TOGETHER: Day = {
  name: 'with all that at once',
  async how() {
    const store = pgBouncerMissing === undefined ? await pooled() : (url: string) => `${url}?prepare=false`
    return {
      server: await inOrder(),
      store: (url, index) => `${store(url, index)}&connections=1`,
      ...(clockMissing === undefined ? { env: clocksOff } : {}),
    }
  },
}
const DAYS = IS_LONG ? [...APART, TOGETHER] : [TOGETHER]

/** What people do in a day: they ask, stream, leave, use up what they have; and a node is killed. */
const aDayOf = async ({ nodes, over }: { nodes: Nodes; over: { open(): void } }): Promise<void> => {
  const small = await Promise.all(
    Array.from({ length: 6 }, (_, i) => nodes.newKey({ tokens_total: 1_500, ...(i % 2 === 0 ? {} : { rpm: 40 }) })),
  )
  const sampler = sample(nodes.reading)
  const [killed, ...left] = nodes.all
  if (killed === undefined || left.length === 0) throw new Error('there must be two')
  const streams = await Promise.all(nodes.all.flatMap((node) => [1, 2, 3].map(() => slowStream(node, nodes.secret))))
  const secrets = [nodes.secret, ...small.map(({ secret }) => secret)]
  const before = startLoad(nodes, { secrets, clients: 12 })
  await until(() => before.done() > (IS_LONG ? 200 : 60), 120_000)
  killed.child.kill('SIGKILL')
  const load = startLoad(nodes, { secrets, clients: 6, among: () => left })
  await before.stop()
  await until(async () => (await nodes.query("SELECT 1 FROM exchanges WHERE outcome = 'failed'")).length >= 3)
  over.open()
  for (const { rest } of streams.slice(3)) expect(await rest).toContain('[DONE]')
  await until(() => load.done() > 20)
  const tally = await load.stop()
  await nothingOpen(nodes)
  await sampler.sound()
  expect(endedOtherwise(before.tally, '402', '429', 'cut', 'unreachable')).toEqual([])
  expect(endedOtherwise(tally, '402', '429')).toEqual([])
  const rows = await nodes.books()
  requireBilled(tally, rows)
  requireBilled(before.tally, rows)
}

describe.skipIf(postgresMissing !== undefined)('nodes', () => {
  // A crash takes the last moments of what is not waited for along: nodes say them again.
  for (const how of IS_LONG ? (['fast', 'immediate'] as const) : (['immediate'] as const))
    for (const count of IS_LONG ? [1, 2, 4] : [2])
      test(`${count} go on where their database is restarted (${how}) in the midst of streams`, async () => {
        const server: OwnServer = stopping(await startPostgres())
        const { nodes, over } = await start(count, { server })
        const sampler = sample(nodes.reading)
        const streams = await Promise.all(
          nodes.all.flatMap((node) => [1, 2, 3].map(() => slowStream(node, nodes.secret))),
        )
        const load = startLoad(nodes, { secrets: [nodes.secret], clients: 12 })
        await until(() => load.done() > 50)
        await server.restart(how)
        const served = took(`serve after a restart (${how}, ${count})`, IS_LONG ? 3_000 : undefined)
        const before = load.done()
        await until(() => load.done() > before)
        served()
        await until(() => load.done() > before + 50)
        over.open()
        for (const { rest } of streams) expect(await rest).toContain('[DONE]')
        const tally = await load.stop()
        await nothingOpen(nodes)
        await sampler.sound()
        expect(endedOtherwise(tally, '503')).toEqual([])
        requireBilled(tally, await nodes.books())
      })

  test('share a database that has hardly a connection left', async () => {
    const server: OwnServer = stopping(await startPostgres(['max_connections=14', 'superuser_reserved_connections=2']))
    const { nodes, over } = await start(2, { server })
    // Others take what is left, until there is none: the nodes go on with what they have by then.
    for (let isLeft = true; isLeft; ) {
      const client = createClient(nodes.store, { max: 1 })
      stopping({ stop: () => client.close() })
      isLeft = await client.query('SELECT 1', [], { deadlineMs: 1_000 }).then(
        () => true,
        () => false,
      )
    }
    await aDayOf({ nodes, over })
  })

  test('settle a row that the database refuses by what was set aside for it, and everything else as ever', async () => {
    const { nodes } = await start(2)
    await nodes.query('ALTER TABLE exchanges ADD CONSTRAINT poison CHECK (output <> 8 OR estimated)')
    await nodes.query('ALTER TABLE reservations ADD CONSTRAINT poison CHECK (input_estimate < 5000)')
    const sampler = sample(nodes.reading)
    const load = startLoad(nodes, { secrets: [nodes.secret], clients: 16 })
    await until(() => load.done() > 40)
    const long = [{ role: 'user', content: 'word '.repeat(20_000) }]
    for (const node of nodes.all) expect(await statusOf(node.ask(nodes.secret, { messages: long }))).toBe(500)
    await until(() => load.done() > 120)
    const tally = await load.stop()
    await nothingOpen(nodes)
    await sampler.sound()
    expect(endedOtherwise(tally)).toEqual([])
    const rows = await nodes.books()
    const refused = [...tally.whole].filter(([, output]) => output === 8).map(([id]) => id)
    expect(refused.length).toBeGreaterThan(0)
    const settled = await nodes.query<{ id: string }>("SELECT id FROM exchanges WHERE estimated AND outcome = 'done'")
    // Of those who left, some had been sent all but the end: what came of it they cannot tell.
    const known = settled.map(({ id }) => id).filter((id) => tally.whole.has(id))
    expect(known.toSorted()).toEqual(refused.toSorted())
    requireBilled(tally, rows)
    expect(rows.filter(({ outcome }) => outcome !== 'done' && outcome !== 'aborted')).toEqual([])
  })

  test.skipIf(clockMissing !== undefined)(
    'hold limits together whose clocks are two hours apart',
    async () => {
      const { nodes } = await start(2, { env: clocksOff })
      for (const [index, off] of [-3_600_000, 3_600_000].entries()) {
        const told = (await fetch(`${nodes.at(index).url}/healthz`)).headers.get('date') ?? ''
        expect(Math.abs(Date.parse(told) - Date.now() - off)).toBeLessThan(600_000)
      }
      const key = await nodes.newKey({ rpm: 25 })
      const asked = Array.from({ length: 60 }, (_, i) => statusOf(nodes.at(i % 2).ask(key.secret)))
      expect((await Promise.all(asked)).filter((status) => status === 200)).toHaveLength(25)
      await nodes.books()
    },
    120_000,
  )

  test.each(DAYS.map((day) => [day.name, day] as const))(
    'live through a day %s',
    async (_, { missing, how }) => {
      if (missing !== undefined) return
      await aDayOf(await start(2, await how()))
    },
    120_000,
  )
})
