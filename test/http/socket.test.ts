// One WebSocket, by what its client says and reads: what is said faster than it is read does not pile up, and what is cancelled
// leaves nothing behind.

import { afterEach, expect, spyOn, test } from 'bun:test'
import type { SocketEnd } from '../../src/gateway.ts'
import { createSocket } from '../../src/http/socket.ts'
import type { JsonObject } from '../../src/ir/json.ts'
import { capture } from '../../src/observe/otlp/content.ts'
import { beginTrace } from '../../src/relay/trace.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { gate, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { until } from '../support/until.ts'

let gateway: TestGateway
let provider: Scripted | undefined
afterEach(async () => {
  await gateway.stop()
  await provider?.stop()
  provider = undefined
})

/** A connection whose client reads only while `reads`. */
const connected = async (): Promise<{
  end: SocketEnd
  sent: string[]
  closed: string[]
  client: { reads: boolean }
}> => {
  const { store } = gateway.server.gateway
  const headers = { authorization: `Bearer ${gateway.secret}` }
  const key = await store.keys.authenticate(new Headers(headers))
  const handshake = new Request(`${gateway.url}/v1/responses`, { headers })
  const end = createSocket(gateway.server.gateway, handshake, { key, changes: store.keys.changes() })
  const sent: string[] = []
  const closed: string[] = []
  const client = { reads: true }
  end.opened({
    send: (text) => sent.push(text),
    unsent: () => (client.reads ? 0 : sent.join('').length * 10_000),
    close(code) {
      closed.push(String(code))
      end.closed()
    },
  })
  return { end, sent, closed, client }
}
const codesIn = (sent: readonly string[]): unknown[] => sent.map((text) => JSON.parse(text).error?.code)

test('events that come faster than they are read are refused past two bodies’ worth', async () => {
  gateway = await startGateway({ config: { bodyLimitBytes: 100_000 } })
  const { end, sent } = await connected()
  for (let said = 0; said < 20; said++) end.said('x'.repeat(90_000))
  await until(() => sent.length === 20)
  const codes = codesIn(sent)
  expect(codes.filter((code) => code === 'invalid_json')).toHaveLength(2)
  expect(codes.filter((code) => code === 'rate_limit_exceeded')).toHaveLength(18)
  end.said('x')
  await until(() => sent.length === 21)
  expect(codesIn(sent).at(-1)).toBe('invalid_json')
  end.closed()
})

test('an event that is no object is told so, whatever its size', async () => {
  gateway = await startGateway({})
  const { end, sent } = await connected()
  for (const event of ['[1]', 'null', `["${'x'.repeat(40_000)}"]`]) end.said(event)
  await until(() => sent.length === 3)
  const said = sent.map((text) => JSON.parse(text).error.message)
  expect(said).toEqual(Array(3).fill('An event must be a JSON object.'))
  end.closed()
})

test('a large event is read in turns of the event loop, and parsed whole neither where it holds more than it may nor else', async () => {
  gateway = await startGateway({})
  const { turns } = gateway.server.gateway
  let count = 0
  gateway.server.gateway.turns = (bytes, work) => {
    count++
    return turns(bytes, work)
  }
  const { end, sent } = await connected()
  const parse = spyOn(JSON, 'parse')
  end.said(`{"type":"response.create","input":"${'x'.repeat(4_000_000)}`)
  await until(() => sent.length === 1)
  expect(count).toBeGreaterThan(4)
  parse.mockClear()
  end.said(`{"type":"response.create","input":[${'[],'.repeat(100_000)}1]}`)
  await until(() => sent.length === 2)
  const event = { type: 'response.create', model: 'vendorB-5.5', store: false }
  end.said(JSON.stringify({ ...event, input: [{ role: 'user', content: 'x'.repeat(4_000_000) }] }))
  await until(() => sent.length === 3)
  // Of what is said one message alone may be, to find the conversation again.
  const parsed = parse.mock.calls.filter(([text]) => text.length > 100_000 && !text.startsWith('{"role"'))
  expect(parsed).toEqual([])
  parse.mockRestore()
  expect(codesIn(sent).slice(0, 2)).toEqual(['invalid_json', 'invalid_request'])
  end.closed()
})

test('a client that reads none of the answers to its faults is told of one, and past the bound hung up on', async () => {
  gateway = await startGateway({ config: { bodyLimitBytes: 100_000 } })
  const { end, sent, closed, client } = await connected()
  client.reads = false
  for (let said = 0; said < 50; said++) end.said('x')
  await until(() => sent.length > 0)
  await gateway.server.gateway.turns(1_000_000, () => undefined)
  expect(sent).toHaveLength(1)
  expect(closed).toEqual([])
  client.reads = true
  end.drained()
  await until(() => sent.length === 50)
  client.reads = false
  for (let said = 0; said < 500; said++) end.said('x')
  expect(closed).toEqual(['1008'])
})

test('one that is cancelled while its stream is there and what it says is still being heard is left as any other', async () => {
  const made = { id: 'resp_1', object: 'response', status: 'in_progress', output: [], model: 'vendorB-5.5' }
  const frame = (event: JsonObject): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  const delta = { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'hi' }
  const steps = [frame({ type: 'response.created', response: made }), frame(delta)]
  provider = await startScripted(() => ({ headers: { 'content-type': 'text/event-stream' }, steps, end: 'stall' }))
  gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, { wires: ['responses'] }) })
  const inside = gateway.server.gateway
  inside.otlp = {
    settings: { endpoint: provider.origin, headers: {}, resource: {}, traces: true, metrics: false, sample: 1 },
    begin: (headers) => ({ ...beginTrace(headers, 1), said: capture() }),
    ended() {},
    dropped: () => ({ traces: 0, metrics: 0 }),
    stop: async () => {},
  }
  const { turns } = inside
  const heard = gate()
  let isHearing = false
  // The first turn of an exchange is that in which what was asked is heard.
  inside.turns = (size, run) => {
    if (isHearing || inside.open.size === 0) return turns(size, run)
    isHearing = true
    return heard.opened.then(() => turns(size, run)) as never
  }
  const { end, sent } = await connected()
  end.said(JSON.stringify({ type: 'response.create', model: 'vendorB-5.5', input: 'hi', stream: true }))
  await until(() => inside.health.states().some(({ inFlight }) => inFlight === 0))
  end.said(JSON.stringify({ type: 'response.cancel' }))
  await until(() => sent.length === 1)
  heard.open()
  await until(() => inside.open.size === 0)
  end.closed()
})
