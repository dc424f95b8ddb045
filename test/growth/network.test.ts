// A network between nodes and their database that delays, cuts and falls silent.

import { describe, expect, test } from 'bun:test'
import { providersAt } from '../chaos/support/gateway.ts'
import { CHAT, streamed } from '../chaos/support/stories.ts'
import { postgresMissing, testPostgres } from '../support/postgres.ts'
import { gate, type Handler, startScripted } from '../support/provider/scripted.ts'
import { createProxy, type Proxy as Line, through } from '../support/proxy.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { sample } from './books.ts'
import { begun, type Node, statusOf, until } from './fleet.ts'
import { IS_LONG } from './forms.ts'
import { endedOtherwise, requireBilled, startLoad, varied } from './load.ts'
import { type Nodes, startNodes } from './nodes.ts'
import { took } from './took.ts'

const stopping = stopsAfterEach()

/** Each node has a line of its own. */
const apart = async (count: number, handler: Handler): Promise<{ nodes: Nodes; lines: Line[] }> => {
  const vendor = stopping(await startScripted(handler))
  const lines: Line[] = []
  const { port } = await testPostgres()
  for (let i = 0; i < count; i++) {
    const line = await createProxy(port)
    lines.push(line)
    stopping({ stop: async () => line.close() })
  }
  const store = (url: string, index: number): string => through(url, lines[index] as Line)
  const nodes = stopping(await startNodes(count, { providers: providersAt({ b: [vendor.origin] }) }, { store }))
  return { nodes, lines }
}
const nothingOpen = (nodes: Nodes): Promise<void> =>
  until(async () => (await nodes.query('SELECT 1 FROM reservations')).length === 0, 40_000)

describe.skipIf(postgresMissing !== undefined)('nodes', () => {
  test.each(['before', 'after'] as const)(
    'lose and double nothing where connections break %s what was sent is carried out',
    async (when) => {
      const { nodes, lines } = await apart(2, varied)
      const small = await Promise.all(Array.from({ length: 4 }, () => nodes.newKey({ tokens_total: 2_000 })))
      const sampler = sample(nodes.reading)
      for (const line of lines) line.cuts = { when, every: 9 }
      const load = startLoad(nodes, { secrets: [nodes.secret, ...small.map(({ secret }) => secret)] })
      await until(() => load.done() > (IS_LONG ? 400 : 80), 120_000)
      for (const line of lines) line.cuts = undefined
      const tally = await load.stop()
      await nothingOpen(nodes)
      await sampler.sound()
      expect(endedOtherwise(tally, '402', '429', '503')).toEqual([])
      requireBilled(tally, await nodes.books())
    },
    120_000,
  )

  test.each(IS_LONG ? [20, 200] : [20])(
    'serve as ever where the database is %i ms away',
    async (delayMs) => {
      const { nodes, lines } = await apart(2, varied)
      const small = await nodes.newKey({ tokens_total: 2_000, rpm: 100 })
      const sampler = sample(nodes.reading)
      for (const line of lines) line.delayMs = delayMs / 2
      const load = startLoad(nodes, { secrets: [nodes.secret, small.secret], clients: 32, each: IS_LONG ? 12 : 4 })
      const tally = await load.ended
      await nothingOpen(nodes)
      await sampler.sound()
      expect(endedOtherwise(tally, '402', '429')).toEqual([])
      requireBilled(tally, await nodes.books())
    },
    120_000,
  )

  test.each(['late', 'lost'] as const)(
    'go on with streams while the database is silent (what was sent is %s), and serve again when it speaks',
    async (how) => {
      const [word, end] = [gate(), gate()]
      const { nodes, lines } = await apart(2, (request, index) =>
        JSON.parse(request.text).user === 'slow'
          ? streamed(CHAT, CHAT.word('one'), word, CHAT.word('two'), end, CHAT.word('three'))
          : varied(request, index),
      )
      const [near, far] = nodes.all as [Node, Node]
      const [line] = lines
      const sampler = sample(nodes.reading)
      const streams = await Promise.all(
        Array.from({ length: 8 }, (_, i) => begun(nodes.at(i % 2), nodes.secret, { user: 'slow' })),
      )
      const load = startLoad(nodes, { secrets: [nodes.secret], among: () => [far], clients: 6 })
      const since = performance.now()
      line?.silence(how)
      const refused = await near.ask(nodes.secret)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
      word.open()
      for (const stream of streams) await stream.hears('two')
      // Its lease ends: the other settles what it has by what is known.
      await until(async () => (await nodes.query('SELECT 1 FROM exchanges WHERE alone')).length === 4)
      if (IS_LONG) await until(() => performance.now() - since > 10_000)
      line?.speak()
      const served = took(`serves after a silence (${how})`, IS_LONG ? 2_000 : undefined)
      await until(async () => (await statusOf(near.ask(nodes.secret))) === 200)
      served()
      end.open()
      for (const { rest } of streams) expect(await rest).toContain('[DONE]')
      await until(async () => (await nodes.query('SELECT 1 FROM exchanges WHERE alone')).length === 0)
      const tally = await load.stop()
      await nothingOpen(nodes)
      await sampler.sound()
      expect(endedOtherwise(tally)).toEqual([])
      const rows = await nodes.books()
      requireBilled(tally, rows)
      // By their own figures, whoever had settled them meanwhile.
      expect(rows.filter(({ outcome, output }) => outcome === 'done' && output === 5).length).toBeGreaterThanOrEqual(8)
    },
    120_000,
  )
})
