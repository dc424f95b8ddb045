// Parts of a vendor's figures that it tells in another place than others do, or only by their sum, cost what they are, and their
// bills say so.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import { billOf } from '../../src/http/admin/bill.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import type { ExchangeRow } from '../../src/store/usage.ts'
import type { Script } from '../support/provider/scripted.ts'
import { type Money, spoken, startMoney } from './support.ts'

const price = {
  ...{ input: 1, output: 2, cacheRead: 0.1, cacheWrite: 10, cacheWrite1h: 16 },
  ...{ image: { input: 3, cacheRead: 0.5, output: 7 }, serviceTiers: { priority: 2 } },
}

let money: Money
beforeAll(async () => {
  money = await startMoney({ config: { models: BUILTIN_MODELS.map((model) => ({ ...model, price })) } })
})
afterAll(() => money.stop())

/** An answer of a wire, whole or streamed, that tells these figures and, beside them, these members. */
const telling = (wire: ChatWire, stream: boolean, figures: object, beside: object): Script => {
  const script = spoken(wire, stream)
  const steps = [...(script.steps as Iterable<string>)].map((step) =>
    step.replaceAll(/\{.*\}/g, (text) => {
      const body = JSON.parse(text)
      const holder = body.message ?? body.response ?? body
      if (holder.usage) Object.assign(holder, { usage: figures }, beside)
      return JSON.stringify(body)
    }),
  )
  return { ...script, steps }
}

/** Its page tells what made the cost. */
const hasBill = (row: ExchangeRow): boolean => billOf(money.server.gateway, row) !== null

type Row = [what: string, wire: ChatWire, figures: object, cost: number, beside?: object]

const rows: Row[] = [
  [
    'thoughts that only the total holds, beside a cached prompt',
    'chat-completions',
    { prompt_tokens: 300, completion_tokens: 50, total_tokens: 470, prompt_tokens_details: { cached_tokens: 200 } },
    100 * 1 + 200 * 0.1 + (50 + 120) * 2,
  ],
  [
    'what was written to a cache beside the prompt that tells what was read',
    'chat-completions',
    {
      ...{ prompt_tokens: 300, completion_tokens: 50, total_tokens: 430 },
      prompt_tokens_details: { cached_tokens: 200, cache_write_tokens: 80 },
    },
    100 * 1 + 200 * 0.1 + 80 * 10 + 50 * 2,
  ],
  [
    'a class of service among the figures',
    'chat-completions',
    { prompt_tokens: 300, completion_tokens: 50, total_tokens: 350, service_tier: 'priority' },
    (300 * 1 + 50 * 2) * 2,
  ],
  [
    'cache writes by their lifetime, beside a sum of nothing',
    'messages',
    {
      ...{ input_tokens: 30, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 50 },
      cache_creation: { ephemeral_5m_input_tokens: 70, ephemeral_1h_input_tokens: 40 },
    },
    30 * 1 + 70 * 10 + 40 * 16 + 50 * 2,
  ],
  [
    'pictures of the image tool',
    'responses',
    { input_tokens: 300, output_tokens: 50, total_tokens: 350 },
    300 * 1 + 50 * 2 + 20 * 1 + 60 * 3 + 90 * 7,
    {
      tool_usage: {
        image_gen: {
          ...{ input_tokens: 80, input_tokens_details: { text_tokens: 20, image_tokens: 60 } },
          ...{ output_tokens: 90, output_tokens_details: { text_tokens: 0, image_tokens: 90 }, total_tokens: 170 },
        },
      },
    },
  ],
  [
    'pictures in a prompt',
    'responses',
    {
      ...{ input_tokens: 300, output_tokens: 50, total_tokens: 350 },
      input_tokens_details: { cached_tokens: 0, text_tokens: 180, image_tokens: 120 },
    },
    180 * 1 + 120 * 3 + 50 * 2,
  ],
]

const asked = rows.flatMap(([what, wire, figures, cost, beside = {}]) =>
  CHAT_WIRES.flatMap((client) =>
    [false, true].map(
      (stream) => [what, client, stream ? 'a stream' : 'an answer', wire, figures, cost, beside] as const,
    ),
  ),
)

test.each(asked)('%s: for a client of %s, in %s of %s', async (_, client, form, wire, figures, cost, beside) => {
  money.answers((reached, stream) => telling(reached, stream, figures, beside))
  const row = await money.exchange(client, wire, { stream: form === 'a stream' })
  expect(row).toMatchObject({ outcome: 'done', estimated: false, costMicroUsd: Math.round(cost) })
  expect(hasBill(row)).toBe(true)
})

const PICTURES = 'vendorB-image-1'
const picture = { b64_json: 'iVBORw0KGgo=' }
const draw = async (body: object, script: Script) => {
  money.answers(() => script)
  const response = await money.post(
    '/v1/images/generations',
    { model: PICTURES, prompt: 'a lock', ...body },
    { authorization: `Bearer ${money.secret}` },
  )
  await response.text()
  await money.idle()
  const row = await money.row(response)
  expect(hasBill(row)).toBe(true)
  return row
}
const drawn = { input_tokens: 20, input_tokens_details: { text_tokens: 20, image_tokens: 0 }, output_tokens: 100 }

test.each<[string, object, number]>([
  ['whose figures do not say what the output is', drawn, 20 * 1 + 100 * 7],
  [
    'of whose output a part is told to be text',
    { ...drawn, output_tokens_details: { text_tokens: 30 } },
    20 + 60 + 490,
  ],
  [
    'of whose output both parts are told',
    { ...drawn, output_tokens_details: { text_tokens: 30, image_tokens: 70 } },
    20 + 60 + 490,
  ],
  [
    'that a model wrote as text',
    { ...drawn, svg_usage: { input_tokens: 10, output_tokens: 40 } },
    20 * 1 + 100 * 7 + 10 * 1 + 40 * 2,
  ],
])('pictures cost as pictures: those %s', async (_, figures, cost) => {
  const { svg_usage: svg, ...usage } = figures as { svg_usage?: object }
  const told = { usage, ...(svg === undefined ? {} : { svg_usage: svg }) }
  const whole = { steps: [JSON.stringify({ created: 1, data: [picture], ...told })] }
  expect(await draw({}, whole)).toMatchObject({ outcome: 'done', costMicroUsd: cost })
})

test('pictures cost as pictures: those of which nothing is told', async () => {
  const each = money.server.gateway.catalogue.resolve(PICTURES)?.tokensPerImage ?? 0
  const whole = { steps: [JSON.stringify({ created: 1, data: [picture, picture] })] }
  const row = await draw({ n: 2 }, whole)
  expect(row.costMicroUsd - (row.input ?? 0)).toBe(2 * each * 7)
  const event = { type: 'image_generation.completed', ...picture }
  const streamed = await draw(
    { stream: true },
    { headers: { 'content-type': 'text/event-stream' }, steps: [`data: ${JSON.stringify(event)}\n\n`] },
  )
  expect(streamed.costMicroUsd - (streamed.input ?? 0)).toBe(each * 7)
})

test('pictures of a stream that tells each by itself have a bill, what their prompts had of pictures too', async () => {
  const usage = { input_tokens: 50, input_tokens_details: { text_tokens: 10, image_tokens: 40 }, output_tokens: 100 }
  const event = { type: 'image_generation.completed', ...picture, usage }
  const steps = [event, event].map((data) => `data: ${JSON.stringify(data)}\n\n`)
  const row = await draw({ stream: true, n: 2 }, { headers: { 'content-type': 'text/event-stream' }, steps })
  expect(row).toMatchObject({ outcome: 'done', estimated: false, costMicroUsd: 2 * (10 * 1 + 40 * 3 + 100 * 7) })
})
