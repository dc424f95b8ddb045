// What a provider keeps for an hour, or for twelve, has a price of its own where the configuration gives one, whatever
// wire its client speaks, whole or streamed.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import { billOf } from '../../src/http/admin/bill.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import type { Script } from '../support/provider/scripted.ts'
import { type Money, startMoney } from './support.ts'

const price = { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 10, cacheWrite1h: 16 }
const prompt = {
  input_tokens: 5,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 1_000,
  cache_creation: { ephemeral_5m_input_tokens: 600, ephemeral_1h_input_tokens: 400 },
}
const COST = 5 * 1 + 600 * 10 + 400 * 16 + 7 * 2

let money: Money
beforeAll(async () => {
  const models = BUILTIN_MODELS.map((model) => ({ ...model, price }))
  money = await startMoney({ config: { models } })
})
afterAll(() => money.stop())

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'up' }
const frame = (event: { type: string }): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

const whole: Script = {
  steps: [
    JSON.stringify({
      ...message,
      content: [{ type: 'text', text: 'hello' }],
      stop_reason: 'end_turn',
      usage: { ...prompt, output_tokens: 7 },
    }),
  ],
}

/** The last report repeats the sums and leaves the lifetimes out. */
const streamed: Script = {
  headers: { 'content-type': 'text/event-stream' },
  steps: [
    { type: 'message_start', message: { ...message, content: [], usage: { ...prompt, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 5, cache_creation_input_tokens: 1_000, cache_read_input_tokens: 0, output_tokens: 7 },
    },
    { type: 'message_stop' },
  ].map(frame),
}

const response = {
  id: 'resp_1',
  status: 'completed',
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hello', annotations: [] }] }],
  usage: {
    input_tokens: 1_005,
    input_tokens_details: {
      cached_tokens: 0,
      cache_write_tokens: 1_000,
      cache_write_tokens_details: { ttl_12h_tokens: 400, ttl_30m_tokens: 600 },
    },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 1_012,
  },
}

const ANSWERS: { wire: ChatWire; whole: Script; streamed: Script }[] = [
  { wire: 'messages', whole, streamed },
  {
    wire: 'responses',
    whole: { steps: [JSON.stringify(response)] },
    streamed: {
      headers: { 'content-type': 'text/event-stream' },
      steps: [
        { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [], usage: null } },
        { type: 'response.completed', response },
      ].map(frame),
    },
  },
]

test.each(
  ANSWERS.flatMap((by) =>
    CHAT_WIRES.flatMap(
      (wire) =>
        [
          [wire, by.wire, false, by.whole],
          [wire, by.wire, true, by.streamed],
        ] as const,
    ),
  ),
)('for a client of %s and a provider of %s, streamed: %p', async (wire, provider, stream, script) => {
  money.answers(() => script)
  const row = await money.exchange(wire, provider, { stream })
  expect([row.cacheWrite, row.costMicroUsd]).toEqual([1_000, COST])
  expect(billOf(money.server.gateway, row)?.lines).toMatchObject([{}, { count: 600 }, { count: 400 }, {}])
})
