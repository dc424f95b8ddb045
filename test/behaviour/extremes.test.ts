// What no one sends in good faith: bodies nested without end, streams that fail and stay. Whatever comes, the exchange is
// settled, and nothing is held.

import { beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { gate, type Script, type Scripted, sse, startScripted } from '../support/provider/scripted.ts'
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

const WIDE = `[${'[],'.repeat(100_000)}1]`
const whole = (more: string) =>
  `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1},"x":${more}}`
const chunk = (more: string) =>
  `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hi"}}],"x":${more}}\n\n`

describe('what a provider sends that holds more than it may cannot be read', () => {
  const tables: [string, Script, string][] = [
    ['an answer', { steps: [whole(WIDE)] }, ''],
    ['a deep answer', { steps: [whole(nested)] }, ''],
    ['an answer that never closes', { steps: [`{"choices":${'['.repeat(1_000_000)}`] }, ''],
    ['an answer after white space', { steps: [`${' '.repeat(5_000)}${whole(WIDE)}`] }, ''],
    ['an answer in place of a stream', { steps: [whole(WIDE)] }, ',"stream":true'],
    ['an event', sse(chunk(WIDE)), ',"stream":true'],
    ['an event in place of an answer', sse(`${chunk(WIDE)}data: [DONE]\n\n`), ''],
    ['a refusal', { steps: [`{"error":{"message":"no","x":${WIDE.slice(0, 200_000)}`], status: 400 }, ''],
  ]
  const rows = tables.flatMap(([name, sent, more]) =>
    (['/v1/chat/completions', '/v1/messages'] as const).map((path) => [name, path, sent, more] as const),
  )
  test.each(rows)('%s, asked at %s', async (_, path, sent, more) => {
    // One of its own, whose breaker has seen nothing.
    const fresh = await startGateway({ vendorB: `${provider.origin}/v1` })
    script = sent
    const response = await fresh.post(path, request('vendorB-5.5', more))
    expect(response.status).toBe(502)
    expect(await response.text()).not.toContain('[]')
    await fresh.idle()
    expect(fresh.server.gateway.ledger.openCount()).toBe(0)
    await fresh.stop()
  })

  test('an event after the first ends the stream with an error', async () => {
    const begun = gate()
    const fresh = await startGateway({ vendorB: `${provider.origin}/v1` })
    script = { ...sse(''), steps: [chunk('1'), begun, chunk(WIDE) + chunk('2')] }
    const response = await fresh.post('/v1/chat/completions', request('vendorB-5.5', ',"stream":true'))
    begun.open()
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('event: error')])
    await fresh.idle()
    await fresh.stop()
  })
})

test('arguments of a call that hold more than they may go on as the text they are', async () => {
  script = {
    steps: [
      '{"type":"message","role":"assistant","id":"m","model":"m","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}',
    ],
  }
  const called = { id: 'c', type: 'function', function: { name: 'f', arguments: `{"a":${WIDE}}` } }
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: null, tool_calls: [called] },
    { role: 'tool', tool_call_id: 'c', content: 'x' },
  ]
  expect((await gateway.post('/v1/chat/completions', { model: 'vendorA-opus-4-8', messages })).status).toBe(200)
  const { input } = JSON.parse(provider.requests.at(-1)?.text ?? '').messages[1].content[0]
  expect(input).toEqual({ input: called.function.arguments })
})
