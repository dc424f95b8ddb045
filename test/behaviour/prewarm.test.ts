// A prompt that is only to be cached: asked of vendor_a with a cap of 0, answered with nothing, and billed as written.

import { beforeAll, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type Scripted, startScripted } from '../support/provider/scripted.ts'
import { stopAfterAll } from '../support/stopping.ts'

const usage = { input_tokens: 3, cache_creation_input_tokens: 2_000, cache_read_input_tokens: 0, output_tokens: 0 }
const nothing = { ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm' }, content: [], usage }

let provider: Scripted
let gateway: TestGateway
beforeAll(async () => {
  provider = await startScripted(() => ({ steps: [JSON.stringify({ ...nothing, stop_reason: 'max_tokens' })] }))
  gateway = await startGateway({ vendorA: provider.origin, vendorB: `${provider.origin}/v1` })
})
stopAfterAll(() => [gateway, provider])

const system = [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }]
const ask = (model: string) =>
  gateway.post('/v1/messages', { model, max_tokens: 0, system, messages: [{ role: 'user', content: 'warm up' }] })

test('it goes to the vendor as it came, and costs what was written', async () => {
  const answer = await ask('vendorA-opus-4-8')
  expect([answer.status, ((await answer.json()) as JsonObject).content]).toEqual([200, []])
  expect(JSON.parse(provider.requests[0]?.text ?? '').max_tokens).toBe(0)
  await gateway.idle()
  const [row] = await gateway.server.gateway.store.exchanges({ limit: 1, id: answer.headers.get('x-request-id') ?? '' })
  expect(row).toMatchObject({
    input: 3,
    cacheWrite: 2_000,
    output: 0,
    costMicroUsd: 12_515,
    outcome: 'done',
    estimated: false,
  })
})

test('no other vendor has such a thing', async () => {
  const answer = await ask('vendorB-5.5')
  const { error } = (await answer.json()) as { error: JsonObject }
  expect([answer.status, error.code, error.param]).toEqual([400, 'invalid_request', 'max_tokens'])
  expect(provider.requests).toHaveLength(1)
})
