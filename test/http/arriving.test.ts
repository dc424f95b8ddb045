// Bodies on their way in: the room they are counted for, how much of it one key may take, and that all of it is given back.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { connect, type RawClient, rawPost } from '../chaos/support/socket.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { json, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { until } from '../support/until.ts'

const GB = 1024 ** 3
const PATH = '/v1/chat/completions'
const ASKED = { model: 'vendorB-5.5', messages: [{ role: 'user', content: 'hi' }] }

let provider: Scripted
let gateway: TestGateway
const clients: RawClient[] = []
beforeEach(async () => {
  provider = await startScripted(() => json({ error: {} }, 500))
  // Room for some 24 of the largest bodies, whatever the process holds.
  const config = { maxMemoryBytes: 100 * GB, bodyLimitBytes: GB, bodyTimeoutMs: 60_000 }
  gateway = await startGateway({ vendorB: `${provider.origin}/v1`, config })
})
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy()
  await gateway.stop()
  await provider.stop()
})

const inside = () => gateway.server.gateway
/** The bytes that all requests on their way have announced. */
const announced = () => inside().arriving.bytes
/** What all of them come to that is still to come. */
const toCome = () => inside().arriving.with('nobody', 0)
/** A request of which nothing more comes than this. */
const begin = (bytes: number, text = '{', secret = gateway.secret): RawClient => {
  const client = connect(gateway.url)
  clients.push(client)
  client.write(rawPost(PATH, secret, text, bytes))
  return client
}

test('one key gets half of the room for announced bodies at most, and others the rest', async () => {
  const greedy = Array.from({ length: 40 }, () => begin(GB))
  let refusals = 0
  const refused = greedy.map(async (client) => {
    await client.hears('HTTP/1.1 503')
    refusals++
  })
  const over = Promise.allSettled(refused)
  await until(() => inside().arriving.count + refusals === greedy.length)
  expect(refusals).toBeGreaterThan(20)
  expect(refusals).toBeLessThan(36)
  const other = { authorization: `Bearer ${(await gateway.issue()).secret}` }
  expect((await gateway.post(PATH, ASKED, other)).status).not.toBe(503)
  const large = begin(GB, '{', (await gateway.issue()).secret)
  const before = inside().arriving.count
  await until(() => inside().arriving.count > before)
  for (const { socket } of [...greedy, large]) socket.destroy()
  await over
  await until(() => inside().arriving.count === 0)
  expect(announced()).toBe(0)
  expect((await gateway.post(PATH, ASKED)).status).not.toBe(503)
})

test('large bodies that wait leave room for small ones, whoever sends them', async () => {
  const limitBytes = 64 * 1024 * 1024
  inside().config.maxMemoryBytes = limitBytes
  inside().memory.past = (limit, others, counted) => others > 0 && counted * 4 > limit
  const secrets = await Promise.all([1, 2, 3].map(async () => (await gateway.issue()).secret))
  const [, , third = ''] = secrets
  let refusals = 0
  const waiting = secrets
    .slice(0, 2)
    .flatMap((secret) => Array.from({ length: 20 }, () => begin(1024 * 1024, '{', secret)))
  for (const client of waiting)
    client.hears('HTTP/1.1 503').then(
      () => refusals++,
      () => undefined,
    )
  await until(() => inside().arriving.count + refusals === waiting.length)
  // As much as there is room for.
  expect(announced() * 4).toBeGreaterThan((limitBytes * 7) / 8)
  expect((await gateway.post(PATH, ASKED, { authorization: `Bearer ${third}` })).status).not.toBe(503)
  await begin(1024 * 1024, '{', third).hears('HTTP/1.1 503')
})

/** What a chunked upload sends: its head, then pieces of white space. */
const upload = (secret: string): RawClient => {
  const client = connect(gateway.url)
  clients.push(client)
  client.write(
    `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
  )
  return client
}
const PIECE = 256 * 1024
const piece = `${PIECE.toString(16)}\r\n${' '.repeat(PIECE)}\r\n`

describe('bodies that do not say how long they are', () => {
  /** Room beyond what the process holds, which a test tells: for so many bytes of bodies, each held four times. */
  const leave = (bytes: number): void => {
    inside().config.maxMemoryBytes = GB
    inside().memory.past = (limit, others, counted) => others > 0 && counted > bytes && limit <= GB
  }

  test('count while they come, and only those without room are refused', async () => {
    leave(4 * 1024 * 1024)
    const uploads = Array.from({ length: 10 }, () => upload(gateway.secret))
    const refused = new Set<RawClient>()
    for (const client of uploads)
      client.hears('HTTP/1.1 503').then(
        () => refused.add(client),
        () => undefined,
      )
    await until(() => inside().arriving.count === uploads.length)
    while (refused.size === 0) {
      const before = announced()
      for (const client of uploads) if (!refused.has(client)) client.write(piece)
      await until(() => announced() > before || refused.size > 0)
    }
    // About half of the room: those of the key count twice, but for the one that asks.
    expect(announced()).toBeLessThan(3 * 1024 * 1024)
    expect(refused.size).toBeLessThan(uploads.length)
    const other = upload((await gateway.issue()).secret)
    other.write(`${piece}0\r\n\r\n`)
    await other.hears('HTTP/1.1 400')
    for (const { socket } of [...uploads, other]) socket.destroy()
    await until(() => inside().arriving.count === 0)
    expect(announced()).toBe(0)
  })

  test('are not held towards others before they count themselves', async () => {
    const uploads = Array.from({ length: 4 }, () => upload(gateway.secret))
    const little = 48 * 1024
    for (const client of uploads) client.write(`${little.toString(16)}\r\n${' '.repeat(little)}\r\n`)
    const large = upload(gateway.secret)
    large.write(piece)
    await until(() => announced() > PIECE / 2)
    expect(toCome()).toBeGreaterThanOrEqual((announced() * 3) / 4)
    for (const { socket } of [...uploads, large]) socket.destroy()
    await until(() => inside().arriving.count === 0)
    expect(toCome()).toBe(0)
  })

  test('are read to their end where they are alone', async () => {
    leave(0)
    const client = upload(gateway.secret)
    for (let sent = 0; sent < 8; sent++) client.write(piece)
    await until(() => announced() >= 7 * PIECE)
    client.write('0\r\n\r\n')
    await client.hears('HTTP/1.1 400')
    await until(() => inside().arriving.count === 0)
    expect(announced()).toBe(0)
  })

  test('and are packed count for what they may expand to', async () => {
    const packed = connect(gateway.url)
    clients.push(packed)
    packed.write(
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.secret}\r\nContent-Encoding: gzip\r\nContent-Length: 100000\r\n\r\nx`,
    )
    await until(() => inside().arriving.count === 1)
    expect(announced()).toBe(10_000_000)
  })
})

describe('a refused request counts towards its key’s rate', () => {
  const large = ' '.repeat(70_000)
  const packed = (text: string) => new Uint8Array(gzipSync(text))
  test.each<[string, boolean, string, string | Uint8Array, Record<string, string>]>([
    ['that is large and no JSON', true, PATH, `{${large}`, {}],
    ['that is large and lacks members', true, PATH, `{${large}}`, {}],
    ['that asks for no model there is', true, PATH, JSON.stringify({ ...ASKED, model: 'none', user: large }), {}],
    ['that is large once it is unpacked', true, PATH, packed(`{${large}`), { 'content-encoding': 'gzip' }],
    ['that is too large', true, PATH, `{${' '.repeat(30 * 1024 * 1024)}`, {}],
    ['that expands too far', true, PATH, packed('['.repeat(3_000_000)), { 'content-encoding': 'gzip' }],
    ['that is a large prompt to count', true, '/v1/responses/input_tokens', `{${large}}`, {}],
    ['that is small', false, PATH, '{', {}],
    ['that is small and packed wrongly', false, PATH, '{', { 'content-encoding': 'gzip' }],
  ])('%s: %p', async (_, counts, path, body, headers) => {
    inside().config.bodyLimitBytes = 25 * 1024 * 1024
    const { secret } = await gateway.issue({ rpm: 1 })
    const ask = async (given: string | Uint8Array) =>
      (await gateway.post(path, given, { ...headers, authorization: `Bearer ${secret}` })).status
    expect([400, 404, 413]).toContain(await ask(body))
    expect((await ask(body)) === 429).toBe(counts)
  })

  test('that has no tokens left, and is large', async () => {
    const { secret } = await gateway.issue({ rpm: 1, tokensTotal: 0 })
    const ask = async (user: string) =>
      (await gateway.post(PATH, { ...ASKED, user }, { authorization: `Bearer ${secret}` })).status
    const small = await ask('me')
    expect([small, await ask(large)]).toEqual([small, small])
    expect(await ask('me')).toBe(429)
  })
})

describe('the room for an announced body is freed', () => {
  const { length } = JSON.stringify(ASKED)
  test.each<[string, () => Promise<unknown>]>([
    ['by a request that is answered', () => gateway.post(PATH, ASKED)],
    ['by one that is no JSON', () => gateway.post(PATH, '{"model":')],
    ['by one for a model that is not', () => gateway.post(PATH, { ...ASKED, model: 'none' })],
    ['by one that cannot be reserved for', async () => gateway.post(PATH, ASKED, await bearer({ tokensTotal: 1 }))],
    [
      'by one past its rate',
      async () => {
        const headers = await bearer({ rpm: 1 })
        await gateway.post(PATH, ASKED, headers)
        return gateway.post(PATH, ASKED, headers)
      },
    ],
    ['by one wrongly packed', () => gateway.post(PATH, ASKED, { 'content-encoding': 'gzip' })],
    ['by one packed in no known way', () => gateway.post(PATH, ASKED, { 'content-encoding': 'lzma' })],
    [
      'by a prompt that is counted',
      () => gateway.post('/v1/responses/input_tokens', { model: ASKED.model, input: 'hi' }),
    ],
    ['by a count of nothing', () => gateway.post('/v1/responses/input_tokens', {})],
    ['by one that is announced as too large', () => begin(2 * GB).hears('413')],
    ['by one that is announced as larger than numbers go', () => begin(2 ** 53).hears('payload_too_large')],
    ...[length, 5_000_000].map((bytes): [string, () => Promise<unknown>] => [
      `by one of ${bytes} bytes whose client leaves amid it`,
      async () => {
        const client = begin(bytes)
        await until(() => inside().arriving.count === 1)
        expect(announced()).toBe(bytes)
        client.socket.destroy()
      },
    ]),
  ])('%s', async (_, ask) => {
    await ask()
    await until(() => inside().arriving.count === 0)
    expect(announced()).toBe(0)
  })

  const bearer = async (limits: object) => ({ authorization: `Bearer ${(await gateway.issue(limits)).secret}` })
})
