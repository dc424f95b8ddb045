// What no one sends in good faith: bodies nested without end, streams that fail and stay. Whatever comes, the exchange is
// settled, and nothing is held.

import { beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type Script, type Scripted, sse, startScripted } from '../support/provider/scripted.ts'
import { stopAfterAll } from '../support/stopping.ts'

let script: Script = {}
let provider: Scripted
let gateway: TestGateway
beforeAll(async () => {
  provider = await startScripted(() => script)
  gateway = await startGateway({ vendorA: provider.origin, vendorB: `${provider.origin}/v1` })
})
stopAfterAll(() => [gateway, provider])

const DEEP = 100_000
const nested = `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`
const request = (model: string, more = ''): string =>
  `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"hi"}]${more}}`
const answer = (content: string): Script => ({
  steps: [
    `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant",
    "content":${content}},"finish_reason":"stop"}]}`,
  ],
})
const settled = (): void => {
  expect([gateway.server.gateway.open.size, gateway.server.gateway.ledger.openCount()]).toEqual([0, 0])
}

test.each(['vendorB-5.5', 'vendorA-opus-4-8'])(
  'a request that is nested too deeply gets an error that says so, for %s',
  async (model) => {
    const response = await gateway.post('/v1/chat/completions', request(model, `,"metadata":${nested}`))
    expect(response.status).toBe(400)
    expect(response.headers.get('x-gateway-error-code')).toMatch(/^invalid_(request|json)$/)
    settled()
  },
)

test('arguments of a call that are nested too deeply go on as the text they are', async () => {
  script = {
    steps: [
      '{"type":"message","role":"assistant","id":"m","model":"m","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}',
    ],
  }
  const called = { id: 'c', type: 'function', function: { name: 'f', arguments: nested } }
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: null, tool_calls: [called] },
    { role: 'tool', tool_call_id: 'c', content: 'x' },
  ]
  const response = await gateway.post('/v1/chat/completions', { model: 'vendorA-opus-4-8', messages })
  expect(response.status).toBe(200)
  expect(JSON.parse(provider.requests.at(-1)?.text ?? '').messages[1].content[0].input).toEqual({ input: nested })
  settled()
})

test('an answer nested too deeply to be counted is settled', async () => {
  script = answer(`${'['.repeat(25_000)}${']'.repeat(25_000)}`)
  const response = await gateway.post('/v1/chat/completions', request('vendorB-5.5'))
  await response.text()
  settled()
})

test('a stream that fails before its first output is abandoned, though it stays open', async () => {
  script = {
    ...sse('data: {"error":{"message":"no","type":"server_error","code":"server_error"}}\n\n'),
    end: 'stall',
  }
  const response = await gateway.post('/v1/chat/completions', request('vendorB-5.5', ',"stream":true'))
  expect(response.headers.get('x-gateway-error-code')).toBe('upstream_error')
  expect(await provider.requests.at(-1)?.closed).toBe('aborted')
  settled()
})

test('a stream that fails after its first output is abandoned, though it stays open', async () => {
  const word = { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'hi' } }] }
  const failure = { error: { message: 'no', type: 'server_error', code: 'server_error' } }
  const said = [word, failure].map((data) => `data: ${JSON.stringify(data)}\n\n`)
  script = { ...sse(said.join('')), end: 'stall' }
  const response = await gateway.post('/v1/chat/completions', request('vendorB-5.5', ',"stream":true'))
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('event: error')
  expect(await provider.requests.at(-1)?.closed).toBe('aborted')
  await gateway.idle()
  settled()
})
