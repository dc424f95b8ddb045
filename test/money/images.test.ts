// Pictures are billed by the provider's figures, else by what the model's pictures are set to cost.

import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { framesOf } from '../support/frames.ts'
import { gate, type Script } from '../support/provider/scripted.ts'
import { booksOf, type Money, startMoney, totalOf } from './support.ts'

const EACH = 4_000
const PICTURE = 'iVBORw0KGgo='
const usage = { input_tokens: 11, input_tokens_details: { text_tokens: 11 }, output_tokens: 272, total_tokens: 283 }
const wholeAnswer = (images: number, figures?: object): Script => ({
  steps: [
    JSON.stringify({
      created: 1,
      data: Array.from({ length: images }, () => ({ b64_json: PICTURE })),
      ...(figures === undefined ? {} : { usage: figures }),
    }),
  ],
})
const frame = (data: { type: string; [name: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const partial = frame({ type: 'image_generation.partial_image', b64_json: PICTURE, partial_image_index: 0 })
const completed = (figures?: object): string =>
  frame({ type: 'image_generation.completed', b64_json: PICTURE, ...(figures === undefined ? {} : { usage: figures }) })
const SSE = { 'content-type': 'text/event-stream' }

let money: Money
beforeAll(async () => {
  money = await startMoney()
  const model = money.server.gateway.catalogue.resolve('vendorB-image-1')
  if (model !== undefined) model.tokensPerImage = EACH
})
afterAll(() => money.stop())

const draw = (secret: string, more: object = {}, signal?: AbortSignal): Promise<Response> =>
  money.post(
    '/v1/images/generations',
    { model: 'vendorB-image-1', prompt: 'a lock', size: '1024x1024', ...more },
    { authorization: `Bearer ${secret}` },
    signal,
  )
const drawn = async (script: Script, more: object = {}) => {
  money.answers(() => script)
  const { id, secret } = await money.issue({ tokensTotal: 1_000_000 })
  const response = await draw(secret, more)
  const text = await response.text()
  await money.idle()
  const row = await money.row(response)
  const books = await booksOf(money, id)
  expect(books).toMatchObject({ rows: 1, held: 0, total: books.used ?? -1 })
  return { response, text, row, used: books.used }
}

describe('images', () => {
  test.each([
    ['answer', wholeAnswer(2, usage), {}],
    ['stream', { headers: SSE, steps: [partial, completed(usage)] }, { stream: true }],
  ] as const)('cost what the provider says (%s)', async (_, script, more) => {
    const { row, used } = await drawn(script, more)
    expect(row).toMatchObject({ input: 11, output: 272, estimated: false, outcome: 'done' })
    expect(used).toBe(283)
  })

  test('are billed by usage in the form of chat-completions', async () => {
    const { row } = await drawn(wholeAnswer(1, { prompt_tokens: 11, completion_tokens: 272, total_tokens: 283 }))
    expect(row).toMatchObject({ input: 11, output: 272, estimated: false })
  })

  test('are billed with the tokens of a model that wrote them as SVG', async () => {
    const author = { model: 'x', input_tokens: 40, output_tokens: 900, reasoning_tokens: 100, total_tokens: 940 }
    const body = { created: 1, data: [{ b64_json: PICTURE }], usage, svg_usage: author }
    const { row } = await drawn({ steps: [JSON.stringify(body)] })
    expect(row).toMatchObject({ input: 51, output: 1172, reasoning: 100, estimated: false })
    expect(JSON.parse(row.rawUsage ?? '')).toEqual({ ...usage, svg_usage: author })
    const untold = { ...body, usage: { input_tokens: 11 } }
    const { row: estimated } = await drawn({ steps: [JSON.stringify(untold)] })
    expect(estimated).toMatchObject({ input: 11, output: EACH, estimated: true })
  })

  test.each([
    ['answer of one', wholeAnswer(1), {}, 1],
    ['answer of three', wholeAnswer(3), { n: 3 }, 3],
    ['answer of three with nothing but input told', wholeAnswer(3, { input_tokens: 11 }), { n: 3 }, 3],
    [
      'answer of two by a server that does not count',
      wholeAnswer(2, { input_tokens: 0, output_tokens: 0 }),
      { n: 2 },
      2,
    ],
    ['stream', { headers: SSE, steps: [partial, completed()] }, { stream: true }, 1],
  ] as const)(
    'cost what they are set to cost where the provider says nothing (%s)',
    async (_, script, more, images) => {
      const { row } = await drawn(script, more)
      expect(row).toMatchObject({ output: images * EACH, estimated: true, outcome: 'done' })
      expect(totalOf(row)).toBe(images * EACH + (row.input ?? 0))
    },
  )

  test.each([
    ['one', 1, 1, undefined],
    ['several', 3, 3, 3],
    ['fewer than were asked for', 3, 2, 3],
  ])('of a stream of %s are all sent and all counted', async (_, __, made, n) => {
    const steps = Array.from({ length: made }, () => [partial, completed(usage)]).flat()
    const { text, row } = await drawn({ headers: SSE, steps }, { stream: true, ...(n === undefined ? {} : { n }) })
    expect(text.match(/event: image_generation\.completed/g)).toHaveLength(made)
    expect(text).not.toContain('event: error')
    expect(row).toMatchObject({ input: 11 * made, output: 272 * made, estimated: false, outcome: 'done' })
    expect(JSON.parse(row.rawUsage ?? '')).toEqual(
      made === 1 ? usage : { images: Array.from({ length: made }, () => usage) },
    )
  })

  test('of a stream that breaks off before the first are a failure', async () => {
    const { text, row } = await drawn({ headers: SSE, steps: [partial] }, { stream: true, n: 2 })
    expect(text).toContain('event: error')
    expect(row.outcome).not.toBe('done')
  })

  test.each([
    ['two of them and a part of the third', [completed(usage), completed(usage), partial], 2 * 272 + EACH],
    ['one, whose figures were not told, and a part of the second', [completed(), partial], 2 * EACH],
    ['a part of the first', [partial, partial], EACH],
  ] as const)('of a stream that breaks off cost what was sent: %s', async (_, steps, output) => {
    const { text, row } = await drawn({ headers: SSE, steps }, { stream: true, n: 3 })
    expect(text).toContain('event: error')
    expect(row).toMatchObject({ output, estimated: true, outcome: 'failed' })
  })

  test.each([
    ['only of the first', [completed(usage), completed()], 272 + EACH, true],
    ['only with the last', [completed(), completed(usage)], 272, false],
  ] as const)('of a stream that tells figures %s', async (_, steps, output, estimated) => {
    const { row } = await drawn({ headers: SSE, steps }, { stream: true, n: 2 })
    expect(row).toMatchObject({ output, estimated, outcome: 'done' })
  })

  test('of a stream whose figures came with the second, and a part of the third', async () => {
    const steps = [completed(), completed(usage), partial]
    const { row } = await drawn({ headers: SSE, steps }, { stream: true, n: 3 })
    expect(row).toMatchObject({ output: 272 + EACH, estimated: true, outcome: 'failed' })
  })

  test('of a stream of fewer than were asked for cost what they are set to cost', async () => {
    const { row } = await drawn({ headers: SSE, steps: [partial, completed()] }, { stream: true, n: 3 })
    expect(row).toMatchObject({ output: EACH, estimated: true, outcome: 'done' })
  })

  /** Draws with a model that fails and falls back to one whose pictures cost three times as much. */
  const stoodIn = async (script: Script, tokensTotal: number, more: object = {}): Promise<Response> => {
    const { gateway } = money.server
    const other = gateway.catalogue.resolve('vendorB-imagegen-3')
    if (other === undefined) throw new Error('no such model')
    const before = [gateway.fallbacks, other.tokensPerImage] as const
    gateway.fallbacks = { 'vendorB-image-1': [other.id] }
    other.tokensPerImage = 3 * EACH
    try {
      const scripts: Script[] = [{ status: 500 }, script]
      money.answers(() => scripts.shift() ?? script)
      const { secret } = await money.issue({ tokensTotal })
      const response = await draw(secret, more)
      await response.text()
      await money.idle()
      return response
    } finally {
      ;[gateway.fallbacks, other.tokensPerImage] = before
    }
  }

  test.each([
    ['answer', wholeAnswer(1), {}],
    ['stream', { headers: SSE, steps: [completed()] }, { stream: true }],
  ] as const)('of a model that stands in cost what its own are set to cost (%s)', async (_, script, more) => {
    const row = await money.row(await stoodIn(script, 1_000_000, more))
    expect(row).toMatchObject({ output: 3 * EACH, estimated: true, outcome: 'done' })
    expect(row.reserved).toBeGreaterThanOrEqual(totalOf(row))
  })

  test('are refused where a model that may stand in could overspend the quota', async () => {
    const asked = money.provider.requests.length
    expect((await stoodIn(wholeAnswer(1), 2 * EACH)).status).toBe(402)
    expect(money.provider.requests).toHaveLength(asked)
  })

  test('of a stream that a killed process leaves cost what was told, and what they are set to cost for those begun', async () => {
    money.answers(() => ({ headers: SSE, steps: [completed(usage), completed(), partial, gate()] }))
    const { secret } = await money.issue({ tokensTotal: 1_000_000 })
    const leaving = new AbortController()
    const response = await draw(secret, { stream: true, n: 4 }, leaving.signal)
    const reader = response.body?.getReader()
    for (let text = ''; !text.includes('partial_image'); )
      text += new TextDecoder().decode((await reader?.read())?.value)
    const { promise: progress, resolve } = Promise.withResolvers<object>()
    const told = spyOn(money.server.gateway.ledger, 'progress').mockImplementation((_, figures) => resolve(figures))
    expect(await progress).toMatchObject({ input: 11, output: 272 + 2 * EACH })
    told.mockRestore()
    leaving.abort()
    await money.idle()
  })

  test('of a stream whose client leaves cost what was told, and what they are set to cost for the rest', async () => {
    const { ledger } = money.server.gateway
    const narrowed = spyOn(ledger, 'narrow')
    money.answers(() => ({ headers: SSE, steps: [completed(usage), partial, gate()] }))
    const { secret } = await money.issue({ tokensTotal: 1_000_000 })
    const leaving = new AbortController()
    const response = await draw(secret, { stream: true, n: 3 }, leaving.signal)
    const reader = response.body?.getReader()
    for (let text = ''; !text.includes('partial_image'); )
      text += new TextDecoder().decode((await reader?.read())?.value)
    leaving.abort()
    await money.idle()
    expect(await money.row(response)).toMatchObject({
      outcome: 'aborted',
      input: 11,
      output: 272 + 2 * EACH,
      estimated: true,
    })
    // Another request must not be given what these are about to cost.
    const least = totalOf(await money.row(response))
    expect(narrowed.mock.calls.filter(([, tokens]) => tokens < least)).toEqual([])
    narrowed.mockRestore()
  })

  test.each([1, 2])('in an answer in place of a stream are its events (%d)', async (images) => {
    const { response, text, row } = await drawn(wholeAnswer(images, usage), { stream: true, n: images })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const events = framesOf(text).map(({ event, data }) => [event, JSON.parse(data)] as const)
    expect(events.map(([event, { type, b64_json }]) => [event, type, b64_json])).toEqual(
      Array.from({ length: images }, () => ['image_generation.completed', 'image_generation.completed', PICTURE]),
    )
    expect(events.at(-1)?.[1]).toMatchObject({ created_at: 1, usage })
    expect(row).toMatchObject({ input: 11, output: 272, estimated: false, outcome: 'done' })
  })

  test('in an answer in place of a stream are billed as told where they are more than were asked for', async () => {
    const { text, row } = await drawn(wholeAnswer(3, usage), { stream: true, n: 2 })
    expect(framesOf(text)).toHaveLength(2)
    expect(row).toMatchObject({ input: 11, output: 272, estimated: false, outcome: 'done' })
  })

  test('in an answer in place of a stream keep what it says of each', async () => {
    const data = [{ type: 'image', b64_json: PICTURE, size: '512x512', quality: 'low' }]
    const { text } = await drawn({ steps: [JSON.stringify({ created: 1, size: '1x1', data })] }, { stream: true })
    const [event] = framesOf(text).map((each) => JSON.parse(each.data))
    expect(event).toMatchObject({ type: 'image_generation.completed', size: '512x512', quality: 'low' })
  })

  test('in an answer in place of a stream are counted where the provider does not tell', async () => {
    const { row } = await drawn(wholeAnswer(2), { stream: true, n: 3 })
    expect(row).toMatchObject({ output: 2 * EACH, estimated: true, outcome: 'done' })
  })

  test.each([
    ['one', 1, usage],
    [
      'two',
      2,
      { ...usage, input_tokens: 22, input_tokens_details: { text_tokens: 22 }, output_tokens: 544, total_tokens: 566 },
    ],
  ])('in a stream in place of an answer are its images: %s', async (_, made, figures) => {
    const told = { created_at: 5, size: '1x1', output_format: 'png', model: 'up', revised_prompt: 'a lock' }
    const event = frame({ type: 'image_generation.completed', b64_json: PICTURE, ...told, usage })
    const steps = Array.from({ length: made }, () => [partial, event]).flat()
    const { response, text, row } = await drawn({ headers: SSE, steps }, { n: made })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(JSON.parse(text)).toEqual({
      ...{ created: 5, size: '1x1', output_format: 'png' },
      data: Array.from({ length: made }, () => ({ b64_json: PICTURE, revised_prompt: 'a lock' })),
      usage: figures,
    })
    expect(row).toMatchObject({ input: 11 * made, output: 272 * made, estimated: false, outcome: 'done' })
  })

  test.each([
    ['were told with the last', [completed(), completed(usage)], { input: 11, output: 272, estimated: false }],
    ['were told of the first only', [completed(usage), completed()], { output: 2 * EACH, estimated: true }],
    ['were not told', [completed(), completed()], { output: 2 * EACH, estimated: true }],
  ] as const)('in a stream in place of an answer whose figures %s', async (_, steps, billed) => {
    const { text, row } = await drawn({ headers: SSE, steps }, { n: 2 })
    expect(JSON.parse(text).data).toHaveLength(2)
    expect(row).toMatchObject({ ...billed, outcome: 'done' })
  })

  test.each([
    ['breaks off', [completed(usage), partial], 502],
    ['has none', [partial], 502],
    [
      'fails',
      [frame({ type: 'error', error: { type: 'image_generation_user_error', code: 'moderation_blocked' } })],
      400,
    ],
  ] as const)('in a stream in place of an answer that %s are none', async (_, steps, status) => {
    const { response, used } = await drawn({ headers: SSE, steps })
    expect([response.status, used]).toEqual([status, 0])
  })

  test('in an answer in place of a stream may be none', async () => {
    const { response, used } = await drawn(wholeAnswer(0), { stream: true })
    expect([response.status, used]).toEqual([502, 0])
  })

  test.each(['insufficient_quota', 'billing_hard_limit_reached'])(
    'that the account cannot pay (%s with 400) are for another account, and cost nothing',
    async (code) => {
      const { response, used } = await drawn({ status: 400, steps: [JSON.stringify({ error: { code } })] }, {})
      expect([response.headers.get('x-gateway-error-code'), used]).toEqual(['service_unavailable', 0])
    },
  )

  test('over the account’s limit per request go to another account, and are not retryable', async () => {
    const error = { code: 'rate_limit_exceeded', message: 'Request too large for image-x on input-images per min' }
    const { response } = await drawn({ status: 429, steps: [JSON.stringify({ error })] }, {})
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([503, 'false'])
  })

  test('that were refused, or not made, are not billed', async () => {
    const moderated = { error: { code: 'moderation_blocked', message: 'no' } }
    for (const [script, more] of [
      [{ status: 400, steps: [JSON.stringify(moderated)] }, {}],
      [{ status: 500, steps: ['no'] }, {}],
      [{ headers: SSE, steps: [frame({ type: 'error', error: { code: 'server_error' } })] }, { stream: true }],
    ] as [Script, object][]) {
      const { response, used } = await drawn(script, more)
      expect(response.status).toBeGreaterThanOrEqual(400)
      expect(used).toBe(0)
    }
  })

  test('are billed if the client disconnects while they are made', async () => {
    money.answers(() => ({ headers: SSE, steps: [partial, gate()] }))
    const { id, secret } = await money.issue({ tokensTotal: 1_000_000 })
    const leaving = new AbortController()
    const response = await draw(secret, { stream: true }, leaving.signal)
    const reader = response.body?.getReader()
    await reader?.read()
    leaving.abort()
    await money.idle()
    expect(await money.row(response)).toMatchObject({ outcome: 'aborted', output: EACH, estimated: true })
    expect(await booksOf(money, id)).toMatchObject({ held: 0, rows: 1 })
  })
})

describe('a key', () => {
  test('gets no picture of a kind that is known to cost more than is left', async () => {
    const dear = { quality: 'high', n: 2 }
    await drawn(wholeAnswer(2, { ...usage, output_tokens: 3 * EACH, total_tokens: 3 * EACH + 11 }), dear)
    const asked = money.provider.requests.length
    money.answers(() => wholeAnswer(1, usage))
    const statuses = async (tokensTotal: number, ...wishes: object[]): Promise<number[]> => {
      const { secret } = await money.issue({ tokensTotal })
      const responses = await Promise.all(wishes.map((wish) => draw(secret, wish)))
      await Promise.all(responses.map((response) => response.text()))
      return responses.map(({ status }) => status)
    }
    const nearly = 1.4 * EACH
    expect(await statuses(nearly, { quality: 'high' })).toEqual([402])
    expect(await statuses(nearly, { quality: 'low' })).toEqual([200])
    expect(await statuses(nearly, { quality: 'high', size: '512x512' })).toEqual([200])
    expect(await statuses(1.6 * EACH, { quality: 'high' })).toEqual([200])
    expect(money.provider.requests).toHaveLength(asked + 3)
    await money.idle()
  })

  test('that cannot pay for an image gets none, and is not overspent by many requests at once', async () => {
    const late = gate()
    money.answers(async () => {
      await late.opened
      return wholeAnswer(1)
    })
    const poor = await money.issue({ tokensTotal: EACH })
    const refused = await draw(poor.secret)
    expect([refused.status, refused.headers.get('x-gateway-error-code')]).toEqual([402, 'quota_exhausted'])
    await refused.text()

    const { id, secret } = await money.issue({ tokensTotal: 3 * EACH - 1 })
    const from = money.provider.requests.length
    const asking = Array.from({ length: 10 }, () => draw(secret))
    await money.provider.arrived(from + 1)
    const answers: number[] = []
    const all = asking.map((each) => each.then((response) => answers.push(response.status)))
    late.open()
    await Promise.all(all)
    await money.idle()
    expect(answers.sort()).toEqual([200, 200, ...Array.from({ length: 8 }, () => 429)])
    expect(money.key(id).tokensUsed).toBeLessThan(3 * EACH)
    const last = await draw(secret)
    expect(last.status).toBe(402)
    expect(money.provider.requests.length - from).toBe(2)
  })
})
