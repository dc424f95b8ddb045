// Nodes that end, or stand still for longer than their lease, in the midst of streams and of answers in the background: another
// settles or goes on with what they had, once, and nothing stays held.

import { describe, expect, test } from 'bun:test'
import type { FileConfig } from '../../src/config/schema.ts'
import { providersAt } from '../chaos/support/gateway.ts'
import { CHAT, RESPONSES, streamed } from '../chaos/support/stories.ts'
import { postgresMissing } from '../support/postgres.ts'
import { gate, type Handler, startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { sample } from './books.ts'
import { begun, type Node, statusOf, until } from './fleet.ts'
import { IS_LONG } from './forms.ts'
import { endedOtherwise, requireBilled, startLoad, varied } from './load.ts'
import { type Nodes, startNodes } from './nodes.ts'
import { took } from './took.ts'

const stopping = stopsAfterEach()
const COUNTS = IS_LONG ? [2, 4] : [2]

/** Answers in the background that are under way until they are `over`; streams that stay after their first word until then. */
const slow = () => {
  const over = gate()
  let isOver = false
  void over.opened.then(() => {
    isOver = true
  })
  let made = 0
  const handler: Handler = (request, index) => {
    const { method, path, text } = request
    if (!path.includes('/responses')) {
      const asked = JSON.parse(text) as { stream?: boolean; user?: string }
      return asked.user === 'slow'
        ? streamed(CHAT, CHAT.word('hello'), over, CHAT.word('again'))
        : varied(request, index)
    }
    const id = method === 'POST' ? `resp_${++made}` : (path.split('/').at(-1) ?? '')
    const usage = { input_tokens: 3, output_tokens: 5, total_tokens: 8 }
    const status = method === 'POST' ? 'queued' : isOver ? 'completed' : 'in_progress'
    const answer = { id, object: 'response', created_at: 1, model: 'up', output: [], usage, status }
    return { steps: [JSON.stringify(answer)] }
  }
  return { handler, over }
}

const start = async (count: number, file: FileConfig = {}) => {
  const { handler, over } = slow()
  const vendor = stopping(await startScripted(handler))
  const nodes = stopping(await startNodes(count, { providers: providersAt({ b: [vendor.origin] }), ...file }))
  return { nodes, over }
}

const slowStream = (node: Node, secret: string) => begun(node, secret, { user: 'slow' })
const inBackground = async (node: Node, secret: string): Promise<string> => {
  const response = await fetch(node.url + RESPONSES.path, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ ...RESPONSES.request(false), background: true }),
  })
  expect(response.status).toBe(200)
  return ((await response.json()) as { id: string }).id
}
/** Of all answers in the background, how many have ended by the vendor's own figures. */
const endedInBackground = async (nodes: Nodes): Promise<number> => {
  const rows = await nodes.query(
    `SELECT 1 FROM exchanges e JOIN background_answers b ON b.exchange_id = e.id
     WHERE e.outcome = 'done' AND e.input = 3 AND e.output = 5`,
  )
  return rows.length
}
const openAt = async (nodes: Nodes, where = ''): Promise<number> =>
  (await nodes.query<{ n: number }>(`SELECT count(*) AS n FROM reservations ${where}`))[0]?.n ?? 0
/** The node's own name, which its reservations have. */
const nameOf = async (nodes: Nodes): Promise<string> => {
  const [row] = await nodes.query<{ node: string }>('SELECT node FROM reservations LIMIT 1')
  if (row === undefined) throw new Error('nothing is in flight')
  return row.node
}

describe.skipIf(postgresMissing !== undefined)('nodes', () => {
  for (const count of COUNTS)
    test(`of ${count} one that is killed leaves nothing held: others settle its streams and go on with what is in the background`, async () => {
      const { nodes, over } = await start(count)
      const sampler = sample(nodes.reading)
      const [killed] = nodes.all
      if (killed === undefined) throw new Error('there are no nodes')
      const streams = await Promise.all(Array.from({ length: 12 }, () => slowStream(killed, nodes.secret)))
      const answers = await Promise.all(Array.from({ length: 4 }, () => inBackground(killed, nodes.secret)))
      const name = await nameOf(nodes)
      const others = await Promise.all(nodes.all.slice(1).map((node) => slowStream(node, nodes.secret)))
      const limited = await nodes.newKey({ concurrency: 3, tokens_total: 1_000_000_000 })
      const held = await Promise.all(Array.from({ length: 3 }, () => slowStream(killed, limited.secret)))
      const left = nodes.all.slice(1)
      const load = startLoad(nodes, { secrets: [nodes.secret], among: () => left, clients: 8 })
      await until(() => load.done() > 20)
      // It is in the midst of this too.
      const midst = startLoad(nodes, { secrets: [nodes.secret], among: () => [killed], clients: 8 })
      await until(() => midst.done() > 10)

      killed.child.kill('SIGKILL')
      const settled = took('settled elsewhere after a kill', IS_LONG ? 5_000 : undefined)
      const gone = `WHERE node = '${name}' OR (node <> '${name}' AND key_id = '${limited.id}')`
      await until(async () => (await openAt(nodes, gone)) === 0)
      settled()
      void midst.stop()
      for (const { rest } of [...streams, ...held]) expect(await rest).not.toContain('[DONE]')
      // Its requests count among those at once no more.
      await until(async () => (await statusOf((left[0] as Node).ask(limited.secret))) === 200)
      expect(await openAt(nodes, `WHERE id IN (SELECT exchange_id FROM background_answers)`)).toBe(answers.length)

      over.open()
      for (const { rest } of others) expect(await rest).toContain('[DONE]')
      const tally = await load.stop()
      await until(async () => (await openAt(nodes)) === 0)
      await sampler.sound()
      expect(await endedInBackground(nodes)).toBe(answers.length)
      expect(endedOtherwise(tally)).toEqual([])
      const rows = await nodes.books()
      requireBilled(tally, rows)
      requireBilled(midst.tally, rows)
      const byOutcome = (outcome: string) => rows.filter((row) => row.outcome === outcome)
      expect(byOutcome('failed').length).toBeGreaterThanOrEqual(15)
      for (const { input } of byOutcome('failed')) expect(input).toBeGreaterThanOrEqual(0)
    })

  for (const count of COUNTS)
    test(`of ${count} one that stands still beyond its lease is settled by another, and heard once when it goes on`, async () => {
      const { nodes, over } = await start(count)
      const sampler = sample(nodes.reading)
      const [still] = nodes.all
      if (still === undefined) throw new Error('there are no nodes')
      const streams = await Promise.all(Array.from({ length: 10 }, () => slowStream(still, nodes.secret)))
      const name = await nameOf(nodes)
      await inBackground(still, nodes.secret)
      const left = nodes.all.slice(1)
      const load = startLoad(nodes, { secrets: [nodes.secret], among: () => left, clients: 8 })

      still.child.kill('SIGSTOP')
      const waiting = Array.from({ length: 6 }, () => statusOf(still.ask(nodes.secret)))
      await until(async () => (await openAt(nodes, `WHERE node = '${name}'`)) === 0)
      await until(async () => (await nodes.query('SELECT 1 FROM exchanges WHERE alone')).length === 10)
      over.open()
      await until(async () => (await endedInBackground(nodes)) === 1)
      still.child.kill('SIGCONT')
      const served = took('serves after it stood still', IS_LONG ? 5_000 : undefined)
      // Asked while it stood still, and decided by a node whose lease has begun anew.
      expect(new Set(await Promise.all(waiting))).toEqual(new Set([200]))
      served()
      for (const { rest } of streams) expect(await rest).toContain('[DONE]')
      await until(async () => (await nodes.query('SELECT 1 FROM exchanges WHERE alone')).length === 0)
      const tally = await load.stop()
      await until(async () => (await openAt(nodes)) === 0)
      await sampler.sound()
      expect(endedOtherwise(tally)).toEqual([])
      const rows = await nodes.books()
      requireBilled(tally, rows)
      expect(rows.filter(({ outcome }) => outcome === 'failed')).toEqual([])
    })

  test('are replaced one by one, and no client hears of it', async () => {
    const { nodes } = await start(IS_LONG ? 4 : 2, { linger: '2s', drain: '20s' })
    const small = await nodes.newKey({ tokens_total: 4_000 })
    const sampler = sample(nodes.reading)
    let serving = [...nodes.all]
    const load = startLoad(nodes, { secrets: [nodes.secret, small.secret], among: () => serving, clients: 12 })
    for (const leaving of [...nodes.all]) {
      const before = load.done()
      await until(() => load.done() > before + 20)
      leaving.child.kill('SIGTERM')
      // As whoever spreads requests over them does.
      await until(async () => (await fetch(`${leaving.url}/readyz`)).status === 503)
      serving = serving.filter((node) => node !== leaving)
      expect(await leaving.child.exited).toBe(0)
      serving = [...serving, await nodes.start()]
    }
    const tally = await load.stop()
    await until(async () => (await openAt(nodes)) === 0)
    await sampler.sound()
    expect(endedOtherwise(tally, '402', '429')).toEqual([])
    const rows = await nodes.books()
    requireBilled(tally, rows)
    expect(rows.filter(({ outcome }) => outcome === 'failed')).toEqual([])
  })
})
