// A quota that does not cover the whole answer lowers the output cap the provider is sent, on every wire and crossing.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { PATHS } from '../support/paths.ts'
import { CROSSINGS, capOf, MODEL_OF, type Money, spoken, startMoney } from './support.ts'

let money: Money
beforeAll(async () => {
  money = await startMoney()
})
afterAll(() => money.stop())

/** What the provider was sent for a request on a key with so many tokens left, and what was set aside for it. */
const sent = async (
  client: ChatWire,
  provider: ChatWire,
  left: number,
  asked: { cap?: number; stream?: boolean; body?: object } = {},
): Promise<{ body: JsonObject; cap: number | undefined; input: number; reserved: number; dropped: string | null }> => {
  money.answers((wire, stream) => spoken(wire, stream))
  const { secret } = await money.issue({ tokensTotal: left })
  const from = money.provider.requests.length
  const response = await money.ask(client, provider, { secret, ...asked })
  const text = await response.text()
  await money.idle()
  expect([response.status, text.slice(0, response.status === 200 ? 0 : 500)]).toEqual([200, ''])
  const request = money.provider.requests[from]?.text ?? '{}'
  const row = await money.row(response)
  const dropped = response.headers.get('x-gateway-dropped')
  return { body: JSON.parse(request), cap: capOf(request), input: row.inputEstimate, reserved: row.reserved, dropped }
}

describe.each(CROSSINGS)('%s → %s', (client, provider) => {
  test.each([false, true])('a cap beyond what is left is lowered to that (stream: %s)', async (stream) => {
    const { cap, input, reserved } = await sent(client, provider, 200, { cap: 900, stream })
    expect(cap).toBe(200 - input)
    expect(reserved).toBe(200)
  })

  test('a request without a cap gets one where the quota does not cover the model’s maximum', async () => {
    const { cap, input } = await sent(client, provider, 300)
    expect(cap).toBe(300 - input)
  })

  test('a cap that fits is not changed', async () => {
    const { cap, input, reserved } = await sent(client, provider, 10_000, { cap: 77 })
    expect(cap).toBe(77)
    expect(reserved).toBe(input + 77)
  })

  test('no cap is sent below the wire’s minimum', async () => {
    const { cap, input } = await sent(client, provider, 8, { cap: 900 })
    expect(cap).toBe(provider === 'responses' ? 16 : Math.max(1, 8 - input))
  })
})

describe('a thinking budget', () => {
  const thinking = { type: 'enabled', budget_tokens: 4_000 }

  test.each([
    [3_000, true],
    [1_500, true],
    [1_000, false],
    [20, false],
  ])('stays below a cap lowered to %i, or thinking is turned off (thinks: %s)', async (left, thinks) => {
    const { body, cap, dropped } = await sent('messages', 'messages', left, { cap: 9_000, body: { thinking } })
    expect(cap).toBeLessThanOrEqual(left)
    expect(dropped).toBe(thinks ? null : 'thinking')
    if (!thinks) expect(body.thinking).toEqual({ type: 'disabled' })
    else {
      const { budget_tokens } = body.thinking as { budget_tokens: number }
      expect(budget_tokens).toBeLessThan(cap ?? 0)
      expect(budget_tokens).toBeGreaterThanOrEqual(1_024)
    }
  })

  test.each(['chat-completions', 'responses'] as const)(
    'asked for by effort on %s stays below a lowered cap',
    async (client) => {
      const effort = client === 'responses' ? { reasoning: { effort: 'high' } } : { reasoning_effort: 'high' }
      for (const left of [20, 1_000, 1_100, 2_000, 30_000]) {
        const { body, cap } = await sent(client, 'messages', left, { body: effort })
        expect(cap).toBeLessThanOrEqual(left)
        const budget = (body.thinking as { budget_tokens?: number } | undefined)?.budget_tokens
        if (budget !== undefined) expect(budget).toBeLessThan(cap ?? 0)
      }
    },
  )
})

test('several answers to one request are reserved and capped together', async () => {
  const wire = 'chat-completions'
  const { cap, input, reserved } = await sent(wire, wire, 1_000, { cap: 900, body: { n: 3 } })
  expect(cap).toBe(Math.floor((1_000 - input) / 3))
  expect(reserved).toBeLessThanOrEqual(1_000)
  expect(reserved).toBeGreaterThan(900)
  const fits = await sent(wire, wire, 1_000, { cap: 100, body: { n: 3 } })
  expect([fits.cap, fits.reserved]).toEqual([100, fits.input + 300])
})

// Providers differ in which of two they read. A text with an escape, and a large one, are edited in other ways.
describe('a decisive member written twice goes out once, as it was admitted', () => {
  const texts = { short: 'hi', escaped: '\\u0041', long: 'hi, '.repeat(20_000), indented: 'hi, '.repeat(20_000) }
  const SIZES = Object.keys(texts) as (keyof typeof texts)[]
  const asked = (wire: ChatWire, text: string): string =>
    wire === 'responses' ? `"input":"${text}"` : `"messages":[{"role":"user","content":"${text}"}]`
  const post = async (wire: ChatWire, size: keyof typeof texts, before: string, after: string) => {
    money.answers((reached, stream) => spoken(reached, stream))
    const { secret } = await money.issue({ tokensTotal: 100_000 })
    const from = money.provider.requests.length
    const gap = size === 'indented' ? '\n ' : ''
    const response = await fetch(`${money.url}${PATHS[wire]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body: `{${gap}"model":"${MODEL_OF[wire]}",${gap}${before},${gap}${asked(wire, texts[size])},${gap}${after}}`,
    })
    await response.text()
    await money.idle()
    return { row: await money.row(response), went: money.provider.requests[from]?.text ?? '' }
  }

  const names = { 'chat-completions': 'max_completion_tokens', responses: 'max_output_tokens', messages: 'max_tokens' }
  test.each(
    CHAT_WIRES.flatMap((wire) =>
      SIZES.flatMap((size) => [
        [wire, size, names[wire]] as const,
        [wire, size, `m\\u0061${names[wire].slice(2)}`] as const,
      ]),
    ),
  )('%s, %s: %s', async (wire, size, name) => {
    const { row, went } = await post(wire, size, `"${name}":5000`, `"${names[wire]}":77`)
    expect(row.reserved - row.inputEstimate).toBe(77)
    expect([went.match(/max_\w+|m\\u0061/g), capOf(went)]).toEqual([[names[wire]], 77])
  })

  test.each<[ChatWire, string, string]>([
    ['chat-completions', '"n":50', '"n":1'],
    [
      'chat-completions',
      '"messages":[{"role":"user","content":"one"}]',
      '"messages":[{"role":"user","content":"two"}]',
    ],
    ...CHAT_WIRES.map((wire): [ChatWire, string, string] => [wire, '"stream":true', '"stream":false']),
    ['responses', '"background":true', '"background":false'],
    ['responses', '"tools":[{"type":"web_search"}]', '"tools":[]'],
  ])('%s: %s', async (wire, before, after) => {
    for (const size of SIZES) {
      const { went } = await post(wire, size, before, `"${names[wire]}":77,${after}`)
      expect(went).not.toContain(before)
      expect(went).toContain(after)
    }
  })

  test.each(CHAT_WIRES)('%s: any other passes as it came', async (wire) => {
    for (const size of SIZES) {
      const { went } = await post(wire, size, '"x":1', `"${names[wire]}":77,"x":2`)
      expect(went.match(/"x":\d/g)).toEqual(['"x":1', '"x":2'])
    }
  })

  test('and usage is asked for at both places', async () => {
    const options = '"stream_options":{"include_usage":false,"include_usage":true}'
    const { went } = await post('chat-completions', 'short', '"stream":true', options)
    expect(went).toContain('"stream_options":{"include_usage":true,"include_usage":true}')
  })

  test('and a cap under two names with the admitted one under both', async () => {
    const { row, went } = await post('chat-completions', 'short', '"max_tokens":5000', '"max_completion_tokens":77')
    expect(row.reserved - row.inputEstimate).toBe(77)
    expect(went.match(/"max_\w+":\d+/g)).toEqual(['"max_tokens":77', '"max_completion_tokens":77'])
  })
})

// Servers written in Go would read it as the one in lower case, which was admitted.
test.each([
  ['MODEL', '"vendorA-opus-4-8"', 'model'],
  ['Max_Tokens', '5000', 'max_tokens'],
  ['max_toKenſ', '5000', 'max_tokens'],
  ['N', '50', 'n'],
])('a member that decides what an answer may cost is refused in other letters: %s', async (name, value, due) => {
  const { secret } = await money.issue()
  const body = `{"model":"${MODEL_OF.messages}","max_tokens":77,"messages":[{"role":"user","content":"hi"}],"${name}":${value}}`
  const response = await money.post(PATHS.messages, body, { authorization: `Bearer ${secret}` })
  const { error } = (await response.json()) as { error: JsonObject }
  expect([response.status, error.code, error.message]).toEqual([
    400,
    'invalid_request',
    `${name}: is written '${due}'.`,
  ])
})

test('so is the wish for usage', async () => {
  const { secret } = await money.issue()
  const stream_options = { include_usage: true, Include_Usage: false }
  const response = await money.ask('chat-completions', 'chat-completions', {
    secret,
    stream: true,
    body: { stream_options },
  })
  const { error } = (await response.json()) as { error: JsonObject }
  expect([response.status, error.message]).toEqual([400, "stream_options.Include_Usage: is written 'include_usage'."])
})

describe('a fallback model', () => {
  /** The cap that the model standing in is sent, and what was reserved for the answer. */
  const stoodIn = async (
    client: ChatWire,
    provider: ChatWire,
    { asked: askedMaximum, own }: { asked: number; own: number },
    cap?: number,
  ): Promise<{ cap: number | undefined; reserved: number }> => {
    const failing = CHAT_WIRES.find((wire) => wire !== provider) ?? 'messages'
    const { catalogue, fallbacks } = money.server.gateway
    const [asked, other] = [catalogue.resolve(MODEL_OF[failing]), catalogue.resolve(MODEL_OF[provider])]
    if (asked === undefined || other === undefined) throw new Error('no such model')
    const before = [asked.maxOutput, other.maxOutput] as const
    money.server.gateway.fallbacks = { ...fallbacks, [asked.id]: [other.id] }
    ;[asked.maxOutput, other.maxOutput] = [askedMaximum, own]
    try {
      money.answers((wire, stream) => (wire === failing ? { status: 500 } : spoken(wire, stream)))
      const { secret } = await money.issue({ tokensTotal: 100_000 })
      const response = await money.ask(client, failing, { secret, ...(cap === undefined ? {} : { cap }) })
      await response.text()
      await money.idle()
      expect(response.status).toBe(200)
      const [row, last] = [await money.row(response), money.provider.requests.at(-1)]
      expect(last?.path).toBe(PATHS[provider])
      return { cap: capOf(last?.text ?? '{}'), reserved: row.reserved - row.inputEstimate }
    } finally {
      ;[asked.maxOutput, other.maxOutput] = before
      money.server.gateway.fallbacks = fallbacks
    }
  }

  describe.each(CROSSINGS)('%s → %s', (client, provider) => {
    test('never outputs more than was reserved for the model asked for', async () => {
      const { cap, reserved } = await stoodIn(client, provider, { asked: 1_000, own: 5_000 })
      expect(cap ?? 5_000).toBeLessThanOrEqual(reserved)
    })

    test('is asked for no more than it can write', async () => {
      expect((await stoodIn(client, provider, { asked: 5_000, own: 500 }, 900)).cap).toBe(500)
    })

    test('is asked for what the client wrote where it can write that', async () => {
      expect((await stoodIn(client, provider, { asked: 5_000, own: 900 }, 900)).cap).toBe(900)
    })
  })
})
