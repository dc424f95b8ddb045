// Counts of prompts that nobody is to answer: the provider's own figure on the client's wire, or the tokenizer's.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MARKER } from '../../src/demo/index.ts'
import type { JsonObject } from '../../src/ir/json.ts'
import { loadTokenizer } from '../money/support.ts'
import { hasCorpus, recordedCounts, violations } from '../support/corpus.ts'
import { type DemoGateway, startDemoGateway, startGateway, type TestGateway } from '../support/gateway.ts'
import { json, type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { stopAfterAll } from '../support/stopping.ts'

const MESSAGES = '/v1/messages/count_tokens'
const RESPONSES = '/v1/responses/input_tokens'
const OWN = { [MESSAGES]: 'vendorA-opus-4-8', [RESPONSES]: 'vendorB-5.5' } as const
const PATHS = [MESSAGES, RESPONSES] as const

const said = { messages: [{ role: 'user', content: 'How long is this?' }] }
const prompts: Record<(typeof PATHS)[number], JsonObject> = {
  [MESSAGES]: { model: OWN[MESSAGES], ...said },
  [RESPONSES]: { model: OWN[RESPONSES], input: 'How long is this?' },
}
/** Enough for each of two accounts to be the place of some. */
const conversations = Array.from({ length: 24 }, (_, i) => ({
  ...prompts[MESSAGES],
  messages: [{ role: 'user', content: `How long is this, the ${i}th time?` }],
}))
const other = (path: (typeof PATHS)[number]) => (path === MESSAGES ? OWN[RESPONSES] : OWN[MESSAGES])

let script: (path: string) => Script
let provider: Scripted
let gateway: TestGateway
beforeAll(async () => {
  provider = await startScripted(({ path }) => script(path))
  gateway = await startGateway({ vendorA: provider.origin, vendorB: `${provider.origin}/v1` })
})
stopAfterAll(() => [gateway, provider])

const last = () => provider.requests.at(-1)
const codeOf = (response: Response) => response.headers.get('x-gateway-error-code')

describe('on the client’s own wire', () => {
  test.each(PATHS)(
    '%s passes the bytes with the model’s name spliced, and the provider’s answer back',
    async (path) => {
      const answer = '{ "input_tokens": 7,\n "more": {"of": 1.50} }'
      script = () => ({ steps: [answer] })
      const text = JSON.stringify({ ...prompts[path], model: 'auto', unknown: { big: 1 } }, null, 2)
      const asked = path === MESSAGES ? text : text.replace('"auto"', '"vendorB-5.5"')
      const response = await gateway.post(path, asked)
      expect([response.status, await response.text()]).toEqual([200, answer])
      expect(response.headers.get('x-gateway-estimated')).toBeNull()
      expect([last()?.path, last()?.text]).toEqual([path, asked.replace('"auto"', '"vendorA-opus-4-8"')])
    },
  )

  test('a model name in the answer is the gateway’s', async () => {
    script = () => ({ steps: ['{"input_tokens":7, "model":"up"}'] })
    expect(await (await gateway.post(MESSAGES, prompts[MESSAGES])).text()).toBe(
      '{"input_tokens":7, "model":"vendorA-opus-4-8"}',
    )
  })

  test('the client’s version and beta headers are passed on', async () => {
    script = () => json({ input_tokens: 7 })
    const headers = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'token-counting-2024-11-01' }
    await gateway.post(`${MESSAGES}?beta=true`, prompts[MESSAGES], headers)
    expect([last()?.headers['vendora-version'], last()?.headers['vendora-beta']]).toEqual(Object.values(headers))
  })

  test.skipIf(!hasCorpus).each(recordedCounts().map((recording) => [recording.name, recording] as const))(
    'recorded: %s',
    async (_, { wire, request, response: recorded, status }) => {
      script = () => ({ status, steps: [recorded] })
      const path = wire === 'messages' ? MESSAGES : RESPONSES
      const asked: JsonObject = { ...JSON.parse(request ?? '{}'), model: OWN[path] }
      const response = await gateway.post(path, asked)
      expect(last()?.text).toBe(JSON.stringify(asked))
      if (status === 200) expect([response.status, await response.text()]).toEqual([200, recorded])
      else expect([response.status, codeOf(response)]).toEqual([502, 'upstream_error'])
    },
  )
})

describe('across wires', () => {
  test.each(PATHS)('%s is translated to the model’s wire, and its answer back', async (path) => {
    const there = path === MESSAGES ? RESPONSES : MESSAGES
    script = () =>
      json(there === RESPONSES ? { object: 'response.input_tokens', input_tokens: 9 } : { input_tokens: 9 })
    const response = await gateway.post(path, { ...prompts[path], model: other(path), stream: true })
    const answer = path === MESSAGES ? { input_tokens: 9 } : { object: 'response.input_tokens', input_tokens: 9 }
    expect([response.status, await response.json()]).toEqual([200, answer])
    expect(last()?.path).toBe(there)
    const sent = JSON.parse(last()?.text ?? '')
    expect(sent.model).toBe(other(path))
    // What bounds or shapes an answer is no part of a count.
    expect(Object.keys(sent)).not.toContainAnyValues(['max_tokens', 'max_output_tokens', 'stream', 'store', 'include'])
  })

  test('members that the model’s wire does not have are listed as dropped', async () => {
    script = () => json({ input_tokens: 9 })
    const { status, headers } = await gateway.post(RESPONSES, {
      ...prompts[RESPONSES],
      model: OWN[MESSAGES],
      truncation: 'auto',
    })
    expect([status, headers.get('x-gateway-dropped')]).toEqual([200, 'truncation'])
  })

  test.skipIf(!hasCorpus).each(recordedCounts().map((recording) => [recording.name, recording] as const))(
    'recorded: %s',
    async (_, { wire, request }) => {
      script = () => json({ input_tokens: 9 })
      const path = wire === 'messages' ? MESSAGES : RESPONSES
      const before = provider.requests.length
      const response = await gateway.post(path, { ...JSON.parse(request ?? '{}'), model: other(path) })
      expect(response.status).toBe(200)
      expect(provider.requests.length).toBe(before + 1)
      const sent = JSON.parse(last()?.text ?? '')
      const schema =
        path === RESPONSES ? 'AnthropicMessageCountTokensParams.strict' : 'OpenAIResponseCreateParams.strict'
      expect(violations(schema, sent)).toEqual([])
    },
  )
})

describe('without a provider’s count', () => {
  test.each<[string, Script]>([
    ['404 without a word', { status: 404, headers: { 'content-type': 'text/html' }, steps: ['<h1>404</h1>'] }],
    ['a count of nothing', json({ input_tokens: 0 })],
    ['404 of a framework', json({ detail: 'Not Found' }, 404)],
    ['404 for the address', json({ error: { message: 'Unknown URL', code: 'unknown_url' } }, 404)],
    ['405', json({ detail: 'Method Not Allowed' }, 405)],
    ['501', json({}, 501)],
    ['200 and that it knows no such endpoint', json({ error: 'No handler for this endpoint (POST count)' })],
    ['400 and that it does not count', json({ message: 'Counting is not supported for this deployment' }, 400)],
    ['422 and that it does not count', json({ error: { message: 'count_tokens cannot be had here' } }, 422)],
  ])('the tokenizer counts where the provider answers %s', async (_, answered) => {
    script = () => answered
    for (const path of PATHS) {
      const response = await gateway.post(path, prompts[path])
      expect([response.status, response.headers.get('x-gateway-estimated')]).toEqual([200, 'true'])
      const { input_tokens } = (await response.json()) as { input_tokens: number }
      expect(input_tokens).toBeGreaterThanOrEqual(6)
      expect(input_tokens).toBeLessThan(20)
    }
  })

  test('the tokenizer counts where the provider speaks chat completions only, and nothing is sent', async () => {
    await loadTokenizer()
    const [, vendorB] = gateway.config.providers
    if (vendorB === undefined) throw new Error('vendor_b is not configured')
    const only = await startGateway({ config: { providers: [{ ...vendorB, wires: ['chat-completions'] }] } })
    const before = provider.requests.length
    const long = 'word '.repeat(2_000)
    const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(400_000) } }
    const counted = async (content: unknown): Promise<number> => {
      const response = await only.post(MESSAGES, { model: 'vendorB-5.5', messages: [{ role: 'user', content }] })
      expect([response.status, response.headers.get('x-gateway-estimated')]).toEqual([200, 'true'])
      return ((await response.json()) as { input_tokens: number }).input_tokens
    }
    const words = await counted(long)
    expect(words).toBeGreaterThan(1_900)
    expect(words).toBeLessThan(2_100)
    // A picture is billed by what it shows, not by its bytes.
    expect(await counted([{ type: 'text', text: long }, picture])).toBeLessThan(words + 12_000)
    expect(provider.requests.length).toBe(before)
    await only.stop()
  })

  test('not_found_error from a server of the responses wire means an unknown path, not a model', async () => {
    script = () => json({ error: { code: 404, message: 'File Not Found', type: 'not_found_error' } }, 404)
    const response = await gateway.post(RESPONSES, prompts[RESPONSES])
    expect([response.status, response.headers.get('x-gateway-estimated')]).toEqual([200, 'true'])
  })

  test('a script without spaces is counted as text, not as a file', async () => {
    script = () => json({}, 404)
    const count = async (content: string): Promise<number> => {
      const response = await gateway.post(MESSAGES, { ...prompts[MESSAGES], messages: [{ role: 'user', content }] })
      return ((await response.json()) as { input_tokens: number }).input_tokens
    }
    const sentence = '今天天气很好，我们去公园散步，然后回家做饭。'
    const one = await count(sentence)
    expect(await count(sentence.repeat(1_000))).toBeGreaterThan(500 * (one - 10))
  })

  test('nothing is listed as dropped where the tokenizer counts', async () => {
    script = () => json({}, 404)
    const response = await gateway.post(RESPONSES, {
      ...prompts[RESPONSES],
      model: OWN[MESSAGES],
      truncation: 'auto',
    })
    expect([response.status, response.headers.get('x-gateway-dropped')]).toEqual([200, null])
  })

  test('a provider with several wires is asked on the one that counts', async () => {
    const [, vendorB] = gateway.config.providers
    if (vendorB === undefined) throw new Error('vendor_b is not configured')
    const chatFirst = await startGateway({
      config: { providers: [{ ...vendorB, wires: ['chat-completions', 'responses'] }] },
    })
    script = () => json({ input_tokens: 4 })
    const response = await chatFirst.post(MESSAGES, { ...prompts[MESSAGES], model: 'vendorB-5.5' })
    expect([await response.json(), last()?.path]).toEqual([{ input_tokens: 4 }, RESPONSES])
    await chatFirst.stop()
  })
})

describe('what goes wrong', () => {
  test.each<[string, Script, number, string]>([
    [
      'refuses the credential',
      json({ error: { type: 'authentication_error', message: MARKER } }, 401),
      502,
      'upstream_error',
    ],
    ['is overloaded', json({ error: { type: 'overloaded_error', message: MARKER } }, 529), 503, 'service_unavailable'],
    ['has another answer', json({ id: 'msg_1', content: [] }), 502, 'upstream_error'],
    ['counts what is no number', json({ input_tokens: MARKER }), 502, 'upstream_error'],
    ['counts less than nothing', json({ input_tokens: -1 }), 502, 'upstream_error'],
    ['answers 200 with an error', json({ error: { message: MARKER } }), 502, 'upstream_error'],
    ['answers with half an answer', { steps: ['{"input_tokens":'] }, 502, 'upstream_error'],
    ['breaks off', { end: 'reset' }, 502, 'upstream_error'],
    [
      'finds the prompt too long',
      json(
        { error: { type: 'invalid_request_error', message: 'prompt is too long: 300000 tokens > 200000 maximum' } },
        400,
      ),
      400,
      'context_length_exceeded',
    ],
  ])('a provider that %s', async (_, answered, status, code) => {
    script = () => answered
    for (const { target } of gateway.server.gateway.health.states()) gateway.server.gateway.health.succeeded(target)
    const response = await gateway.post(MESSAGES, prompts[MESSAGES])
    expect([response.status, codeOf(response)]).toEqual([status, code])
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({ type: 'error', error: { code } })
    expect(text).not.toContain(MARKER)
  })

  test.each<[(typeof PATHS)[number], JsonObject]>([
    [MESSAGES, { type: 'not_found_error', message: 'model: x' }],
    [RESPONSES, { type: 'invalid_request_error', message: MARKER, code: 'model_not_found' }],
  ])('%s of a provider that does not know the model', async (path, error) => {
    script = () => json({ error }, 404)
    expect(codeOf(await gateway.post(path, prompts[path]))).toBe('upstream_error')
  })

  test.each<[string, Script]>([
    ['fails', json({}, 500)],
    ['has not the model', json({ type: 'error', error: { type: 'not_found_error', message: 'model: x' } }, 404)],
  ])('after one account that %s the next is tried', async (_, first) => {
    const [vendorA] = gateway.config.providers
    const [account] = vendorA?.accounts ?? []
    if (vendorA === undefined || account === undefined) throw new Error('vendor_a is not configured')
    const accounts = [
      { ...account, name: 'one', credential: 'one' },
      { ...account, name: 'two', credential: 'two' },
    ]
    const failing = await startScripted(({ headers }) =>
      headers['x-api-key'] === 'one' ? first : json({ input_tokens: 3 }),
    )
    const both = accounts.map((each) => ({ ...each, baseUrl: failing.origin }))
    const pair = await startGateway({ config: { providers: [{ ...vendorA, accounts: both }] } })
    for (const each of conversations) {
      expect(await (await pair.post(MESSAGES, each)).json()).toEqual({ input_tokens: 3 })
    }
    expect(failing.requests.some(({ headers }) => headers['x-api-key'] === 'one')).toBe(true)
    await pair.stop()
    await failing.stop()
  })

  test.each<[string, Script]>([
    ['limits counts', json({}, 429, { 'retry-after': '60' })],
    ['fails at counts', json({}, 500)],
    ['has no count', json({}, 404)],
  ])('a provider whose count %s is still used for answers', async (_, answered) => {
    const own = await startGateway({ vendorA: provider.origin })
    script = () => answered
    for (let asked = 0; asked < 10; asked++) await (await own.post(MESSAGES, prompts[MESSAGES])).text()
    const { health } = own.server.gateway
    expect(health.allows('vendor_a/main/vendorA-opus-4-8')).toBe(true)
    expect((await own.get('/readyz')).status).toBe(200)
    expect(health.states().every(({ inFlight }) => inFlight === 0)).toBe(true)
    await own.stop()
  })

  test('an account whose counts are rate limited comes after the others', async () => {
    const [vendorA] = gateway.config.providers
    const [account] = vendorA?.accounts ?? []
    if (vendorA === undefined || account === undefined) throw new Error('vendor_a is not configured')
    const limited = await startScripted(({ headers }) =>
      headers['x-api-key'] === 'one' ? json({}, 429, { 'retry-after': '60' }) : json({ input_tokens: 3 }),
    )
    const accounts = ['one', 'two'].map((name) => ({ ...account, name, credential: name, baseUrl: limited.origin }))
    const pair = await startGateway({ config: { providers: [{ ...vendorA, accounts }] } })
    for (const each of conversations) expect((await pair.post(MESSAGES, each)).status).toBe(200)
    expect(limited.requests.filter(({ headers }) => headers['x-api-key'] === 'one')).toHaveLength(1)
    await pair.stop()
    await limited.stop()
  })

  test('a fallback model is not asked: its tokens differ', async () => {
    const fallbacks = { 'vendorA-opus-4-8': ['vendorB-5.5'] }
    const standIn = await startGateway({
      vendorA: provider.origin,
      vendorB: `${provider.origin}/v1`,
      config: { fallbacks },
    })
    script = (path) => (path === MESSAGES ? json({}, 500) : json({ input_tokens: 1 }))
    expect((await standIn.post(MESSAGES, prompts[MESSAGES])).status).toBe(502)
    await standIn.stop()
  })

  test('a provider that is not configured is 503', async () => {
    const bare = await startGateway({})
    expect(codeOf(await bare.post(MESSAGES, prompts[MESSAGES]))).toBe('service_unavailable')
    await bare.stop()
  })

  test('a client that disconnects ends the provider call', async () => {
    script = () => ({ end: 'hang' })
    const before = provider.requests.length
    const leaving = new AbortController()
    const asked = gateway.post(MESSAGES, prompts[MESSAGES], {}, leaving.signal).catch(() => undefined)
    const arrived = await provider.arrived(before)
    leaving.abort()
    expect(await arrived.closed).toBe('aborted')
    await asked
  })
})

describe('a count', () => {
  test.each(PATHS)('is made for a model that takes text only, of text only: %s', async (path) => {
    script = () => json({ input_tokens: 7 })
    const asked = { ...prompts[path], model: 'vendorB-4' }
    expect((await gateway.post(path, asked)).status).toBe(200)
    const source = { type: 'url', url: 'https://x.example/a.png' }
    const shown =
      path === MESSAGES
        ? { messages: [{ role: 'user', content: [{ type: 'image', source }] }] }
        : { input: [{ role: 'user', content: [{ type: 'input_image', image_url: source.url }] }] }
    expect(await (await gateway.post(path, { ...asked, ...shown })).text()).toContain('takes text only')
  })

  test('bills nothing and leaves no exchange', async () => {
    script = () => json({ input_tokens: 7 })
    const usage = async () => (await (await gateway.get('/v1/usage')).json()) as JsonObject
    const before = await usage()
    for (const path of PATHS) await gateway.post(path, prompts[path])
    expect(await usage()).toEqual(before)
    expect(gateway.server.gateway.open.size).toBe(0)
    expect(gateway.server.gateway.ledger.openCount()).toBe(0)
  })

  test('counts against the key’s request limit, unless it is refused', async () => {
    script = () => json({ input_tokens: 7 })
    const { secret } = await gateway.issue({ rpm: 2, concurrency: 1 })
    const headers = { authorization: `Bearer ${secret}` }
    const ask = (body: unknown) => gateway.post(MESSAGES, body, headers)
    expect((await ask({ ...prompts[MESSAGES], messages: 1 })).status).toBe(400)
    expect((await ask({ ...prompts[MESSAGES], model: 'none' })).status).toBe(404)
    const first = await ask(prompts[MESSAGES])
    expect([first.status, first.headers.get('x-ratelimit-remaining-requests')]).toEqual([200, '1'])
    expect((await ask(prompts[MESSAGES])).status).toBe(200)
    const third = await ask(prompts[MESSAGES])
    expect([third.status, Number(third.headers.get('retry-after')) > 0]).toEqual([429, true])
  })

  test('is refused to a key that has nothing left, or may not use the model', async () => {
    script = () => json({ input_tokens: 7 })
    const spent = await gateway.issue({ tokensTotal: 0 })
    const narrow = await gateway.issue({ models: ['vendorB-*'] })
    const ask = (secret: string) => gateway.post(MESSAGES, prompts[MESSAGES], { 'x-api-key': secret })
    expect([codeOf(await ask(spent.secret)), codeOf(await ask(narrow.secret))]).toEqual([
      'quota_exhausted',
      'permission_denied',
    ])
  })

  test('of a large body passes its bytes', async () => {
    script = () => json({ input_tokens: 7 })
    const body = JSON.stringify({ ...prompts[MESSAGES], messages: [{ role: 'user', content: 'x'.repeat(200_000) }] })
    expect((await gateway.post(MESSAGES, body)).status).toBe(200)
    expect(last()?.text).toBe(body)
  })
})

describe('the demo’s vendors', () => {
  let served: DemoGateway
  beforeAll(async () => {
    served = await startDemoGateway()
  })
  afterAll(() => served.stop())

  test.each(PATHS.flatMap((path) => Object.values(OWN).map((model) => [path, model] as const)))(
    '%s of %s is what an answer to the same prompt is billed for',
    async (path, model) => {
      const counted = (await (await served.post(path, { ...prompts[path], model })).json()) as { input_tokens: number }
      const answers = path.slice(0, path.lastIndexOf('/'))
      const body = { ...prompts[path], model, ...(path === MESSAGES ? { max_tokens: 100 } : {}) }
      const { usage } = (await (await served.post(answers, body)).json()) as { usage: { input_tokens: number } }
      expect(counted.input_tokens).toBe(usage.input_tokens)
    },
  )
})
