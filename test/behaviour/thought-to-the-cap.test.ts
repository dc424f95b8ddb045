// The vendor refuses where a model has thought up to its output cap: clients of every wire get the cut answer that it is.

import { beforeAll, expect, test } from 'bun:test'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { type Scripted, startScripted } from '../support/provider/scripted.ts'
import { stopAfterAll } from '../support/stopping.ts'

const refusing = (message: string) => ({
  status: 400,
  steps: [JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null } })],
})

let provider: Scripted
let gateway: TestGateway
beforeAll(async () => {
  provider = await startScripted(({ text }) =>
    text.includes('another')
      ? refusing('Could not finish reading the request.')
      : refusing('Could not finish the message because max_tokens or model output limit was reached.'),
  )
  gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, { wires: ['chat-completions'] }) })
})
stopAfterAll(() => [gateway, provider])

const REQUESTS = [
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Think.' }], max_completion_tokens: 20 }, '"length"'],
  ['/v1/responses', { input: 'Think.', max_output_tokens: 20 }, '"max_output_tokens"}'],
  ['/v1/messages', { messages: [{ role: 'user', content: 'Think.' }], max_tokens: 20 }, '"max_tokens"'],
] as const

test.each(REQUESTS)('at %s, whole and in a stream', async (path, body, due) => {
  for (const stream of [false, true]) {
    const response = await gateway.post(path, { model: 'vendorB-4o', ...body, stream })
    const text = await response.text()
    expect(response.status).toBe(200)
    expect(text).toContain(due)
    expect(text).not.toContain('Could not finish')
  }
})

test('any other refusal stays one', async () => {
  const messages = [{ role: 'user', content: 'another' }]
  const response = await gateway.post('/v1/chat/completions', { model: 'vendorB-4o', messages })
  expect(response.status).toBeGreaterThanOrEqual(400)
})
