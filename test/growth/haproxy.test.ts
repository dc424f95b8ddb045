// Three nodes, PostgreSQL and HAProxy as docs/scale has them: what clients and people see through HAProxy while nodes come and go.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { request as nodeRequest } from 'node:http'
import { providersAt } from '../chaos/support/gateway.ts'
import { CHAT, MESSAGES, RESPONSES, STORIES, type Story, streamed, whole } from '../chaos/support/stories.ts'
import { haproxyMissing } from '../support/haproxy.ts'
import { postgresMissing } from '../support/postgres.ts'
import { gate, type Handler, type Scripted, type Step, startScripted } from '../support/provider/scripted.ts'
import { openSocket } from '../support/socket.ts'
import { type Composed, startComposed } from './composed.ts'
import { until } from './fleet.ts'

const storyOf = (path: string): Story => STORIES.find((story) => path.startsWith(story.path)) ?? CHAT
/** Streams take these steps, whole answers come at once. */
const answering =
  (...steps: Step[]): Handler =>
  ({ path, text }) =>
    JSON.parse(text).stream === true ? streamed(storyOf(path), ...steps) : whole(storyOf(path))

let vendor: Scripted
let all: Composed
/** What the vendor of the moment says. */
let says: Handler = answering()

const missing = postgresMissing ?? haproxyMissing

beforeAll(async () => {
  if (missing !== undefined) return
  vendor = await startScripted((request, index) => says(request, index))
  const providers = providersAt({ a: [vendor.origin], b: [vendor.origin] })
  all = await startComposed({ providers, keep_alive: '500ms' })
  await all.up(3)
}, 300_000)
afterAll(async () => {
  await all?.stop()
  await vendor?.stop()
})

const ask = (story: Story, stream: boolean, url = all.url): Promise<Response> =>
  fetch(url + story.path, {
    method: 'POST',
    headers: { authorization: `Bearer ${all.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(story.request(stream)),
  })

/** The text of a stream as it comes. */
const reading = async (asked: Promise<Response>) => {
  const response = await asked
  expect(response.status).toBe(200)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const text = new TextDecoder()
  let read = ''
  const more = async (): Promise<boolean> => {
    const { done, value } = await reader.read()
    read += text.decode(value, { stream: true })
    return !done
  }
  return {
    read: () => read,
    /** All until then. */
    async comes(word: string): Promise<string> {
      while (!read.includes(word)) if (!(await more())) throw new Error(`ended without ${word}: ${read}`)
      return read
    },
    async rest(): Promise<string> {
      while (await more());
      return read
    },
  }
}

const LAST: Record<string, string> = { [CHAT.path]: '[DONE]', [RESPONSES.path]: 'response.completed' }
const lastOf = ({ path }: Story): string => LAST[path] ?? 'message_stop'

/** Clients that ask one request after the other on connections that they keep, until they are told to stop. */
const goingOn = (count: number) => {
  const seen: string[] = []
  let over = false
  const client = async (): Promise<void> => {
    while (!over) {
      try {
        const response = await ask(CHAT, false)
        const text = await response.text()
        seen.push(response.status === 200 ? '200' : `${response.status} ${text}`)
      } catch (cause) {
        seen.push(String(cause))
      }
    }
  }
  const clients = Array.from({ length: count }, client)
  return {
    seen,
    /** So many more answers have come. */
    more: (answers: number): Promise<void> => {
      const from = seen.length
      return until(() => seen.length >= from + answers)
    },
    async stop(): Promise<string[]> {
      over = true
      await Promise.all(clients)
      return seen.filter((word) => word !== '200')
    },
  }
}

describe.skipIf(missing !== undefined)('behind HAProxy, as docs/scale has it', () => {
  test('every wire answers, whole, in a stream and by WebSocket, at whichever node', async () => {
    says = answering()
    const asked = [CHAT, RESPONSES, MESSAGES].flatMap((story) =>
      [false, true].flatMap((stream) =>
        Array.from({ length: 4 }, async () => ({ story, stream, response: await ask(story, stream) })),
      ),
    )
    for (const { story, stream, response } of await Promise.all(asked)) {
      const text = await response.text()
      expect([response.status, text]).toEqual([200, expect.stringContaining(stream ? lastOf(story) : 'hello')])
    }
    const socket = await openSocket(all.url, { authorization: `Bearer ${all.secret}` })
    const { stream: _, ...request } = RESPONSES.request(true) as Record<string, string>
    socket.send({ type: 'response.create', ...request })
    expect((await socket.answer()).at(-1)).toMatchObject({ type: 'response.completed' })
    socket.close()
    const counts = await Promise.all(all.nodes.map((node) => node.answered()))
    expect(counts.every((count) => count > 0)).toBe(true)
  })

  test('each word of a stream arrives before the next is said', async () => {
    for (const story of STORIES) {
      const [second, third] = [gate(), gate()]
      says = answering(story.word('one'), second, story.word('two'), third, story.word('three'))
      const stream = await reading(ask(story, true))
      expect(await stream.comes('one')).not.toContain('two')
      second.open()
      expect(await stream.comes('two')).not.toContain('three')
      third.open()
      expect(await stream.rest()).toContain(lastOf(story))
    }
  })

  test('a stream that is silent for longer than HAProxy waits is kept alive', async () => {
    const end = gate()
    says = answering(RESPONSES.word('one'), end, RESPONSES.word('two'))
    const url = await all.front((text) => text.replace(/^( *timeout (?:client|server)) 1h$/gm, '$1 3s'))
    const stream = await reading(ask(RESPONSES, true, url))
    await stream.comes('one')
    const read = stream.comes('two')
    // More than those three seconds.
    await until(() => stream.read().split('\n').filter(isKeepAlive).length >= 10)
    end.open()
    expect(await read).toContain('two')
    expect(await stream.rest()).toContain('response.completed')
  })

  test('the waits that HAProxy is told are no shorter than what the gateway may wait for a provider', () => {
    const text = readFileSync(new URL('../../docs/scale/haproxy.cfg', import.meta.url), 'utf8')
    for (const side of ['client', 'server', 'tunnel'])
      expect(text).toMatch(new RegExp(`^ *timeout ${side} (?:[1-9]\\d*h|[1-9]\\d*d)$`, 'm'))
  })

  test('exchanges are of the client’s address, whatever it says of itself', async () => {
    says = answering()
    const body = JSON.stringify(CHAT.request(false))
    const status = await new Promise((resolve, reject) => {
      const { hostname, port } = new URL(all.url)
      const headers = {
        ...{ authorization: `Bearer ${all.secret}`, 'content-type': 'application/json' },
        ...{ 'x-forwarded-for': '203.0.113.9', 'content-length': body.length },
      }
      const asked = nodeRequest(
        { hostname, port, localAddress: '127.0.0.9', path: CHAT.path, method: 'POST', headers },
        (response) => response.resume().on('end', () => resolve(response.statusCode)),
      )
      asked.on('error', reject)
      asked.end(body)
    })
    expect(status).toBe(200)
    await until(async () => (await all.query("SELECT 1 FROM exchanges WHERE address = '127.0.0.9'")).length === 1)
    expect(await all.query("SELECT 1 FROM exchanges WHERE address LIKE '203.%'")).toEqual([])
  })

  test('people set the gateway up, sign in, and are known at every node', async () => {
    says = answering()
    const link = await all.nodes[1]?.child.says(/^Setup\s+\S+#(\S+)$/)
    const post = (path: string, body: object): Promise<Response> =>
      fetch(`${all.url}/admin/api${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: all.url, connection: 'close' },
        body: JSON.stringify(body),
      })
    const password = 'correct horse battery staple'
    expect((await post('/setup', { token: link, name: 'Ada', password })).status).toBe(200)
    const entered = await post('/session', { name: 'Ada', password })
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
    for (let i = 0; i < 9; i++) {
      const session = await fetch(`${all.url}/admin/api/session`, { headers: { cookie, connection: 'close' } })
      expect(await session.json()).toMatchObject({ signed_in: true, member: { name: 'Ada' } })
    }
    expect((await fetch(`${all.url}/dashboard`)).status).toBe(200)
  })

  test('nodes are replaced one by one, and no client notices', async () => {
    const end = gate()
    says = answering(CHAT.word('one'), end, CHAT.word('two'))
    const streams = await Promise.all(Array.from({ length: 6 }, () => reading(ask(CHAT, true))))
    for (const stream of streams) await stream.comes('one')
    const clients = goingOn(8)
    await clients.more(50)
    for (const [at, node] of all.nodes.entries()) {
      node.child.kill('SIGTERM')
      await until(async () => (await all.haproxy.states())[node.name]?.startsWith('DOWN') === true)
      await clients.more(50)
      if (at === 0) {
        end.open()
        for (const stream of streams) expect(await stream.rest()).toContain('[DONE]')
      }
      expect(await node.child.exited).toBe(0)
      await node.again()
      await all.up(3)
      await clients.more(50)
    }
    expect(await clients.stop()).toEqual([])
  })

  test('one that is killed loses its own streams and nothing else, and is asked nothing until it is there again', async () => {
    const end = gate()
    says = answering(CHAT.word('one'), end)
    const streams = await Promise.all(Array.from({ length: 6 }, () => reading(ask(CHAT, true))))
    for (const stream of streams) await stream.comes('one')
    const [killed, ...others] = all.nodes
    killed?.child.kill('SIGKILL')
    await killed?.child.exited
    // As SDKs do: what a proxy had kept open to the node may be found closed by the first that it is used for.
    const asked = () => ask(CHAT, false).catch(() => ask(CHAT, false))
    for (let i = 0; i < 30; i++) expect((await asked()).status).toBe(200)
    await all.up(2)
    end.open()
    const ends = await Promise.all(streams.map((stream) => stream.rest().catch(() => 'cut')))
    expect(ends.filter((text) => text.includes('[DONE]'))).toHaveLength(4)
    await killed?.again()
    await all.up(3)
    for (let i = 0; i < 30; i++) expect((await ask(CHAT, false)).status).toBe(200)
    for (const node of [killed, ...others]) expect(await node?.answered()).toBeGreaterThan(0)
  })

  test('where no node is ready clients are told so in the gateway’s words, and served as soon as one is', async () => {
    says = answering()
    await all.server.halt('immediate')
    await all.up(0)
    const refused = await ask(CHAT, false)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await refused.json()).toMatchObject({ error: { type: 'api_error', code: 'service_unavailable' } })
    await all.server.start()
    await all.up(3)
    expect((await ask(CHAT, false)).status).toBe(200)
    await all.books()
  })
})

const isKeepAlive = (line: string): boolean => line.startsWith(':') || line.includes('keepalive')
