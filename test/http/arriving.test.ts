// Bodies on their way in: the room they are counted for, how much of it one key may take, and that all of it is given back.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { connect, type RawClient, rawPost } from '../chaos/support/socket.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { json, type Scripted, startScripted } from '../support/provider/scripted.ts'

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
const announced = () => inside().arriving.with('', 0)
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise(setImmediate)
}
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
  const other = { authorization: `Bearer ${gateway.issue().secret}` }
  expect((await gateway.post(PATH, ASKED, other)).status).not.toBe(503)
  const large = begin(GB, '{', gateway.issue().secret)
  const before = inside().arriving.count
  await until(() => inside().arriving.count > before)
  for (const { socket } of [...greedy, large]) socket.destroy()
  await over
  await until(() => inside().arriving.count === 0)
  expect(announced()).toBe(0)
  expect((await gateway.post(PATH, ASKED)).status).not.toBe(503)
})

describe('the room for an announced body is freed', () => {
  const { length } = JSON.stringify(ASKED)
  test.each<[string, () => Promise<unknown>]>([
    ['by a request that is answered', () => gateway.post(PATH, ASKED)],
    ['by one that is no JSON', () => gateway.post(PATH, '{"model":')],
    ['by one for a model that is not', () => gateway.post(PATH, { ...ASKED, model: 'none' })],
    ['by one that cannot be reserved for', () => gateway.post(PATH, ASKED, bearer({ tokensTotal: 1 }))],
    [
      'by one past its rate',
      async () => {
        const headers = bearer({ rpm: 1 })
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

  const bearer = (limits: object) => ({ authorization: `Bearer ${gateway.issue(limits).secret}` })
})
