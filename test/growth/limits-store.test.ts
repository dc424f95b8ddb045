// Nodes that count the limits of keys in Valkey or Redis: together there, together in their database while any of them cannot
// reach it, and never without a limit.

import { describe, expect, test } from 'bun:test'
import { providersAt } from '../chaos/support/gateway.ts'
import { CHAT, streamed, whole } from '../chaos/support/stories.ts'
import { postgresMissing } from '../support/postgres.ts'
import { gate, type Step, startScripted } from '../support/provider/scripted.ts'
import { createProxy } from '../support/proxy.ts'
import { redisMissing, startRedis } from '../support/redis.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { begun, statusOf, until } from './fleet.ts'
import { type Nodes, startNodes } from './nodes.ts'

const stopping = stopsAfterEach()
const missing = postgresMissing ?? redisMissing

/** The second node goes to the store over `line`. */
const usual = async (...steps: Step[]) => {
  const server = stopping(await startRedis())
  const line = await createProxy(server.port)
  stopping({ stop: async () => line.close() })
  const vendor = stopping(
    await startScripted(({ text }) => (JSON.parse(text).stream === true ? streamed(CHAT, ...steps) : whole(CHAT))),
  )
  const at = (index: number) => `redis://127.0.0.1:${index === 0 ? server.port : line.port}`
  const nodes = stopping(
    await startNodes(
      2,
      { providers: providersAt({ b: [vendor.origin] }) },
      {
        env: (index) => ({ SLUICE_LIMITS_STORE: at(index) }),
      },
    ),
  )
  const degraded = async (index: number): Promise<boolean> =>
    JSON.stringify(await (await fetch(`${nodes.at(index).url}/readyz`)).json()).includes('degraded')
  /** At both nodes. */
  const areAway = (is: boolean): Promise<void> =>
    until(async () => (await degraded(0)) === is && (await degraded(1)) === is)
  return { server, line, nodes, areAway }
}

/** How many of so many at once get in. */
const raced = async (nodes: Nodes, secret: string, count: number): Promise<number> => {
  const asked = Array.from({ length: count }, (_, i) => statusOf(nodes.at(i % 2).ask(secret)))
  const statuses = await Promise.all(asked)
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([])
  return statuses.filter((status) => status === 200).length
}

const windowsIn = (nodes: Nodes): Promise<object[]> => nodes.reading.query('SELECT 1 FROM windows')

describe.skipIf(missing !== undefined)('nodes with a store for limits', () => {
  test('hold the limits of a key together, and write nothing of them into their database', async () => {
    const { nodes, server } = await usual()
    const [requests, tokens] = [await nodes.newKey({ rpm: 25 }), await nodes.newKey({ tpm: 20 })]
    expect(await raced(nodes, requests.secret, 90)).toBe(25)
    const refused = await nodes.at(1).ask(requests.secret)
    expect([refused.status, refused.headers.get('x-ratelimit-remaining-requests')]).toEqual([429, '0'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    // Each comes to eight, and those below twenty get in.
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) {
      statuses.push(await statusOf(nodes.at(i % 2).ask(tokens.secret)))
      const counted = async (): Promise<string[]> => server.client.hvals(`sluice:{${tokens.id}}:window`)
      const sum = Math.min(i + 1, 3) * 8
      await until(async () => {
        const names = await server.client.hkeys(`sluice:{${tokens.id}}:window`)
        const values = await counted()
        return values.reduce((all, each, at) => all + (names[at]?.startsWith('t') ? Number(each) : 0), 0) === sum
      })
    }
    expect(statuses).toEqual([200, 200, 200, 429])
    expect(await windowsIn(nodes)).toEqual([])
    await nodes.books()
  })

  test('count in their database while it is away, and there again as if it had not been', async () => {
    const { nodes, server, areAway } = await usual()
    await server.halt()
    expect(await statusOf(nodes.at(0).ask((await nodes.newKey({ rpm: 5 })).secret))).toBe(200)
    await areAway(true)
    for (const node of nodes.all) {
      expect((await fetch(`${node.url}/readyz`)).status).toBe(200)
      expect((await node.metrics())('sluice_limits_store_up')).toBe(0)
    }
    const key = await nodes.newKey({ rpm: 12 })
    expect(await raced(nodes, key.secret, 60)).toBe(12)
    expect(await windowsIn(nodes)).not.toEqual([])
    await server.start()
    await areAway(false)
    expect((await nodes.at(0).metrics())('sluice_limits_store_up')).toBe(1)
    // Those of the last minute count there as well.
    expect(await raced(nodes, key.secret, 20)).toBe(0)
    expect(await raced(nodes, (await nodes.newKey({ rpm: 7 })).secret, 30)).toBe(7)
    await nodes.books()
  })

  test('all count in their database where one alone cannot reach it', async () => {
    const { nodes, line, areAway } = await usual()
    line.isMute = true
    expect(await statusOf(nodes.at(1).ask((await nodes.newKey({ rpm: 5 })).secret))).toBe(200)
    await areAway(true)
    expect(await raced(nodes, (await nodes.newKey({ rpm: 9 })).secret, 40)).toBe(9)
    line.isMute = false
    await areAway(false)
    expect(await raced(nodes, (await nodes.newKey({ rpm: 9 })).secret, 40)).toBe(9)
  })

  test('begin and serve where it is not there at all', async () => {
    const vendor = stopping(await startScripted(() => whole(CHAT)))
    const file = { providers: providersAt({ b: [vendor.origin] }) }
    const nodes = stopping(await startNodes(2, file, { env: () => ({ SLUICE_LIMITS_STORE: 'redis://127.0.0.1:9' }) }))
    expect(await raced(nodes, (await nodes.newKey({ rpm: 6 })).secret, 20)).toBe(6)
  })

  test('free what requests of a node held that was killed, and hold what goes on', async () => {
    const end = gate()
    const { nodes } = await usual(CHAT.word('one'), end)
    const key = await nodes.newKey({ concurrency: 3 })
    await begun(nodes.at(1), key.secret)
    await begun(nodes.at(1), key.secret)
    const kept = await begun(nodes.at(0), key.secret)
    expect(await raced(nodes, key.secret, 6)).toBe(0)
    nodes.at(1).child.kill('SIGKILL')
    await until(async () => (await statusOf(nodes.at(0).ask(key.secret))) === 200)
    end.open()
    expect(await kept.rest).toContain('[DONE]')
    await until(async () => (await nodes.reading.query('SELECT 1 FROM reservations')).length === 0)
  })
})
