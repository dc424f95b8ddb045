// Clients that read slowly, leave, vanish or never finish what they began: the provider is held back or let go, and
// nothing is kept for those who have gone.

import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { gate, type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { stopAfterAll } from '../support/stopping.ts'
import { type Attacked, openGateway, providersAt } from './support/gateway.ts'
import { connect, kernelHolds, rawPost } from './support/socket.ts'
import { CHAT, SSE, STORIES, streamed, whole } from './support/stories.ts'

const MEGABYTE = 1024 * 1024

let script: Script = {}
let provider: Scripted
/** Waits long for its providers, and not for its clients' bodies. */
let gateway: Attacked
/** Gives up a provider that falls silent. */
let restless: Attacked

const IDLE_MS = 1_000

beforeAll(async () => {
  provider = await startScripted(() => script)
  const origins = { a: [provider.origin], b: [provider.origin] }
  const open = (idle: string, more: object): Promise<Attacked> =>
    openGateway({ providers: providersAt(origins, { first_byte: '60s', idle }), keep_alive: '60s', ...more })
  gateway = await open('60s', { body_timeout: '300ms' })
  restless = await open(`${IDLE_MS}ms`, {})
})
afterEach(async () => {
  for (const each of [gateway, restless]) await each.quiet()
})
stopAfterAll(() => [gateway, restless, provider])

const latest = () => provider.arrived(provider.requests.length - 1)
const next = () => provider.arrived(provider.requests.length)

/** Resolves with a figure once it has not changed for so long. */
const settled = async (read: () => number, forMs: number): Promise<number> => {
  let last = -1
  for (let since = performance.now(); performance.now() - since < forMs; await Bun.sleep(20)) {
    if (read() === last) continue
    last = read()
    since = performance.now()
  }
  return last
}

/** Long before anything ends by its timeout, and as long as a busy machine may take. */
const SOON_MS = 20_000

const soon = async <T>(wanted: Promise<T>): Promise<T> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`not within ${SOON_MS} ms`)), SOON_MS)
  return Promise.race([wanted, late.promise]).finally(() => clearTimeout(timer))
}

describe.each(STORIES.map((story) => [story.path, story] as const))('%s', (path, story) => {
  test('a client that does not read holds the provider back, and then gets every byte', async () => {
    const word = story.word('x'.repeat(64 * 1024))
    const count = 1_000
    const many = function* () {
      yield story.begin
      for (let sent = 0; sent < count; sent++) yield word
      yield story.end
    }
    script = { headers: SSE, steps: many() }
    const before = await restless.figures()
    const client = connect(restless.url, true)
    const arrival = next()
    client.write(rawPost(path, restless.secret, JSON.stringify(story.request(true))))
    const request = await arrival
    // Longer than a provider may be silent: this one is kept waiting, and has not fallen silent.
    const held = await settled(() => request.sent, 1.5 * IDLE_MS)
    // Beyond what the sockets on the way hold, next to nothing has left the provider.
    const inSockets = kernelHolds([provider.origin, restless.url])
    expect(held - (inSockets ?? 0)).toBeLessThan((inSockets === undefined ? 24 : 8) * MEGABYTE)
    if (restless.child !== undefined) {
      // In a process of its own what the gateway holds can be told from what the test does.
      expect((await restless.figures()).rssBytes - before.rssBytes).toBeLessThan(64 * MEGABYTE)
    }
    client.socket.resume()
    expect(await request.closed).toBe('done')
    const heard = await client.hears('\r\n0\r\n\r\n')
    expect(heard.includes('event: error')).toBe(false)
    expect(client.bytes).toBeGreaterThan(count * 64 * 1024)
    client.socket.destroy()
  })

  test('a client that disconnects before any answer ends the provider call at once', async () => {
    script = { end: 'hang' }
    for (const stream of [false, true]) {
      const leaving = new AbortController()
      const arrival = next()
      const answer = gateway.post(path, story.request(stream), { signal: leaving.signal }).catch(() => 'left')
      const request = await arrival
      leaving.abort()
      expect(await answer).toBe('left')
      expect(await soon(request.closed)).toBe('aborted')
      await gateway.quiet()
    }
  })

  test('a client that disconnects in the middle of a stream ends the provider call at once', async () => {
    script = { headers: SSE, steps: [story.begin, story.word('hello'), gate()] }
    const leaving = new AbortController()
    const response = await gateway.post(path, story.request(true), { signal: leaving.signal })
    await response.body?.getReader().read()
    const request = await latest()
    leaving.abort()
    expect(await soon(request.closed)).toBe('aborted')
  })

  test('a socket that is reset in the middle of a stream ends the provider call at once', async () => {
    script = { headers: SSE, steps: [story.begin, story.word('hello'), gate()] }
    const client = connect(gateway.url)
    client.write(rawPost(path, gateway.secret, JSON.stringify(story.request(true))))
    await client.hears('hello')
    const request = await latest()
    client.socket.resetAndDestroy()
    expect(await soon(request.closed)).toBe('aborted')
  })
})

test('clients that disconnect as their answer begins leave nothing open', async () => {
  script = streamed(CHAT, gate())
  const before = provider.requests.length
  const client = async (at: number): Promise<void> => {
    const leaving = new AbortController()
    const answer = gateway.post(CHAT.path, CHAT.request(true), { signal: leaving.signal }).catch(() => undefined)
    // Some leave on the way in, some with the headers on their way out.
    for (let turns = 0; turns < at % 40; turns++) await new Promise((resolve) => setImmediate(resolve))
    leaving.abort()
    await answer
  }
  for (let round = 0; round < 4; round++) await Promise.all(Array.from({ length: 40 }, (_, at) => client(at)))
  await gateway.quiet()
  const ends = await Promise.all(provider.requests.slice(before).map(({ closed }) => soon(closed)))
  expect(new Set(ends)).toEqual(new Set(ends.length === 0 ? [] : ['aborted']))
})

test('a client that closes its sending half ends the provider call at once', async () => {
  script = streamed(CHAT, gate())
  const client = connect(gateway.url)
  client.write(rawPost(CHAT.path, gateway.secret, JSON.stringify(CHAT.request(true))))
  await client.hears('assistant')
  const request = await latest()
  client.socket.end()
  expect(await soon(request.closed)).toBe('aborted')
  expect(await soon(client.closed)).not.toContain('[DONE]')
})

describe('a request that does not arrive', () => {
  test('a body that trickles in is refused in time, and its connection with it', async () => {
    const client = connect(gateway.url)
    const body = JSON.stringify(CHAT.request(false))
    const before = provider.requests.length
    client.write(rawPost(CHAT.path, gateway.secret, body.slice(0, 10), body.length))
    const heard = await soon(client.hears('\r\n\r\n'))
    expect(heard).toStartWith('HTTP/1.1 400 ')
    expect(heard).toContain('x-gateway-error-code: invalid_request')
    client.socket.destroy()
    expect(provider.requests.length).toBe(before)
  })

  test('a chunked body that stops is refused in time', async () => {
    const client = connect(gateway.url)
    client.write(
      `POST ${CHAT.path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${gateway.secret}\r\n` +
        'Transfer-Encoding: chunked\r\n\r\n5\r\n{"mod\r\n',
    )
    expect(await soon(client.hears('\r\n\r\n'))).toStartWith('HTTP/1.1 400 ')
    client.socket.destroy()
  })

  test('a client that disconnects in the middle of its body leaves nothing open', async () => {
    const figures = await gateway.figures()
    for (let at = 0; at < 20; at++) {
      const client = connect(gateway.url)
      client.write(rawPost(CHAT.path, gateway.secret, '{"model":', 5_000))
      await new Promise((resolve) => client.socket.once('connect', resolve))
      client.socket.destroy()
      await client.closed
    }
    script = whole(CHAT)
    expect((await gateway.post(CHAT.path, CHAT.request(false))).status).toBe(200)
    expect((await gateway.quiet()).fds).toBeLessThan(figures.fds + 30)
  })

  test('half-open connections do not block others', async () => {
    const clients = Array.from({ length: 200 }, () => connect(gateway.url))
    for (const client of clients) client.write('POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nX-Half: ')
    script = whole(CHAT)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => gateway.post(CHAT.path, CHAT.request(false)).then(({ status }) => status)),
    )
    expect(answers).toEqual(Array(20).fill(200))
    for (const client of clients) client.socket.destroy()
  })

  test('a host of one character is a host', async () => {
    script = whole(CHAT)
    const client = connect(gateway.url)
    client.write(rawPost(CHAT.path, gateway.secret, JSON.stringify(CHAT.request(false))).replace('gateway', 'g'))
    expect(await client.hears('hello')).toStartWith('HTTP/1.1 200 ')
    client.socket.destroy()
  })

  test('garbage for a request is answered or cut, and the server serves on', async () => {
    for (const garbage of [
      '\x16\x03\x01\x02',
      'GET\r\n\r\n',
      'POST / HTTP/9.9\r\n\r\n',
      `GET /${'x'.repeat(200_000)}`,
    ]) {
      const client = connect(gateway.url)
      client.write(garbage)
      client.socket.end()
      await soon(client.closed)
    }
    script = whole(CHAT)
    expect((await gateway.post(CHAT.path, CHAT.request(false))).status).toBe(200)
  })
})
