// Rate limits as clients meet them: exact at the boundary, truthful about when, told on every answer, consumed by
// nothing that was refused, and let go of however an exchange ends.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { connect, rawPost } from '../chaos/support/socket.ts'
import { PATHS } from '../support/paths.ts'
import { gate, type Script } from '../support/provider/scripted.ts'
import { CROSSINGS, loadTokenizer, MODEL_OF, type Money, requestOn, spoken, startMoney } from './support.ts'

const START = Date.UTC(2026, 8, 1, 12, 0, 0, 250)
const time = { now: START }
let money: Money
beforeAll(async () => {
  await loadTokenizer()
  money = await startMoney({ clock: () => time.now, config: { bodyLimitBytes: 20_000 } })
})
afterAll(() => money.stop())
beforeEach(() => {
  time.now = START
  money.answers((wire, stream) => spoken(wire, stream, { billed: { input: 6, output: 4 } }))
})

const done = async (response: Response): Promise<Response> => {
  await response.text()
  await money.idle()
  return response
}
const ask = async (secret: string, wire: ChatWire = 'messages', stream = false): Promise<Response> =>
  done(await money.ask(wire, wire, { secret, stream, cap: 50 }))
const codeOf = (response: Response): string | null => response.headers.get('x-gateway-error-code')

describe('requests per minute', () => {
  test('are admitted exactly up to the limit, and again one by one as each is a minute old', async () => {
    const { secret } = await money.issue({ rpm: 3 })
    for (const at of [0, 10_000, 25_000]) {
      time.now = START + at
      expect((await ask(secret)).status).toBe(200)
    }
    const refused = await ask(secret)
    expect([refused.status, codeOf(refused), refused.headers.get('retry-after')]).toEqual([
      429,
      'rate_limit_exceeded',
      '35',
    ])
    time.now = START + 59_999
    expect(await ask(secret)).toMatchObject({ status: 429 })
    time.now = START + 60_000
    expect(await ask(secret)).toMatchObject({ status: 200 })
    expect((await ask(secret)).headers.get('retry-after')).toBe('10')
    time.now = START + 70_000
    expect(await ask(secret)).toMatchObject({ status: 200 })
    expect(await ask(secret)).toMatchObject({ status: 429 })
  })

  test('of a hundred at once are admitted exactly up to the limit', async () => {
    const { secret } = await money.issue({ rpm: 7 })
    const all = await Promise.all(Array.from({ length: 100 }, () => money.ask('messages', 'messages', { secret })))
    await Promise.all(all.map((response) => response.text()))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(7)
    expect(all.filter(({ status }) => status === 429)).toHaveLength(93)
  })

  test('are refused for as long as Retry-After says and no longer', async () => {
    const { secret } = await money.issue({ rpm: 2 })
    for (let round = 0; round < 8; round++) {
      let refused = await ask(secret)
      while (refused.status === 200) {
        time.now += 400
        refused = await ask(secret)
      }
      const seconds = Number(refused.headers.get('retry-after'))
      const from = time.now
      time.now = from + (seconds - 1) * 1_000
      expect(await ask(secret)).toMatchObject({ status: 429 })
      time.now = from + seconds * 1_000
      expect(await ask(secret)).toMatchObject({ status: 200 })
    }
  })
})

describe('tokens per minute', () => {
  test('are admitted while the minute’s settled tokens are below the limit, and again once those expire', async () => {
    const { secret } = await money.issue({ tpm: 20 })
    expect((await ask(secret)).headers.get('x-ratelimit-remaining-tokens')).toBe('20')
    time.now += 5_000
    expect((await ask(secret)).headers.get('x-ratelimit-remaining-tokens')).toBe('10')
    const refused = await ask(secret)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '55'])
    expect(refused.headers.get('x-ratelimit-remaining-tokens')).toBe('0')
    time.now += 54_999
    expect(await ask(secret)).toMatchObject({ status: 429 })
    time.now += 1
    expect(await ask(secret)).toMatchObject({ status: 200 })
  })
})

describe.each(CHAT_WIRES)('the headers on %s', (wire) => {
  const families = ['x-ratelimit', ...(wire === 'messages' ? ['anthropic-ratelimit'] : [])]
  const nameOf = (family: string, what: string, part: string): string =>
    family === 'x-ratelimit' ? `x-ratelimit-${part}-${what}` : `anthropic-ratelimit-${what}-${part}`

  test.each([false, true])(
    'tell limit, remaining and reset on answers and on refusals (stream: %s)',
    async (stream) => {
      const { secret } = await money.issue({ rpm: 2, tpm: 1_000 })
      const told: (string | null)[][] = []
      for (let i = 0; i < 3; i++) {
        const response = await ask(secret, wire, stream)
        expect(response.status).toBe(i < 2 ? 200 : 429)
        for (const family of families) {
          for (const what of ['requests', 'tokens']) {
            for (const part of ['limit', 'remaining', 'reset']) {
              expect(response.headers.get(nameOf(family, what, part))).not.toBeNull()
            }
          }
          told.push(['limit', 'remaining'].map((part) => response.headers.get(nameOf(family, 'requests', part))))
        }
        if (wire !== 'messages') expect([...response.headers.keys()].join()).not.toContain('anthropic')
        expect(response.headers.get('x-ratelimit-reset-requests')).toBe('1m0s')
      }
      expect(told).toEqual(
        [
          ['2', '1'],
          ['2', '0'],
          ['2', '0'],
        ].flatMap((each) => families.map(() => each)),
      )
    },
  )

  test('are absent without a limit', async () => {
    const { secret } = await money.issue()
    expect([...(await ask(secret, wire)).headers.keys()].join()).not.toContain('ratelimit')
  })
})

describe('a refused request counts against no limit', () => {
  const json = { 'content-type': 'application/json' }
  const raw = (secret: string, body: string): Promise<Response> =>
    money.post('/v1/chat/completions', body, { ...json, authorization: `Bearer ${secret}` })
  const chat = (model: string, more: object = {}) =>
    JSON.stringify({ ...requestOn('chat-completions', model, false), ...more })

  const refusals: [string, number, (secret: string) => Promise<Response>][] = [
    ['a body that is no JSON', 400, (secret) => raw(secret, '{')],
    ['a body that is no request', 400, (secret) => raw(secret, '{"model":"auto"}')],
    ['what the provider’s wire cannot say', 400, (secret) => raw(secret, chat(MODEL_OF.messages, { n: 3 }))],
    ['an unknown model', 404, (secret) => raw(secret, chat('nope'))],
    ['a model of another kind', 404, (secret) => raw(secret, chat('vendorB-image-1'))],
    ['a body that is too large', 413, (secret) => raw(secret, chat('auto', { user: 'x'.repeat(30_000) }))],
    ['another key’s model', 403, (secret) => raw(secret, chat('vendorB-4o'))],
    ['more answers than are left', 402, (secret) => raw(secret, chat(MODEL_OF['chat-completions'], { n: 128 }))],
  ]

  test.each(refusals)('%s (%i)', async (_, status, refuse) => {
    const { id, secret } = await money.issue({
      rpm: 2,
      tpm: 1_000,
      concurrency: 1,
      tokensTotal: 60,
      models: Object.values(MODEL_OF),
    })
    for (let i = 0; i < 5; i++) {
      const response = await done(await refuse(secret))
      expect(response.status).toBe(status)
      expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('2')
      expect(response.headers.get('x-ratelimit-remaining-tokens')).toBe('1000')
    }
    expect(money.key(id).tokensUsed).toBe(0)
    expect(money.server.gateway.ledger.heldBy(id)).toBe(0)
    expect(await ask(secret)).toMatchObject({ status: 200 })
  })

  test('a wrong key (401)', async () => {
    const { secret } = await money.issue({ rpm: 1 })
    for (let i = 0; i < 3; i++) expect(await ask(`${secret.slice(0, -1)}!`)).toMatchObject({ status: 401 })
    expect(await ask(secret)).toMatchObject({ status: 200 })
  })

  test('a request over the limit (429)', async () => {
    const { secret } = await money.issue({ rpm: 1 })
    expect(await ask(secret)).toMatchObject({ status: 200 })
    for (let i = 0; i < 10; i++) {
      time.now += 1_000
      expect(await ask(secret)).toMatchObject({ status: 429 })
    }
    time.now = START + 60_000
    expect(await ask(secret)).toMatchObject({ status: 200 })
  })

  test('a request whose tokens are held by others (429), and an exhausted key’s (402)', async () => {
    const { id, secret } = await money.issue({ rpm: 5, tokensTotal: 40 })
    const late = gate()
    money.answers(async (wire) => {
      await late.opened
      return spoken(wire, false, { billed: { input: 20, output: 20 } })
    })
    const from = money.provider.requests.length
    const holding = money.ask('messages', 'messages', { secret, cap: 100 })
    await money.provider.arrived(from)
    for (let i = 0; i < 4; i++) {
      const refused = await money.ask('messages', 'messages', { secret, cap: 100 })
      expect([refused.status, codeOf(refused)]).toEqual([429, 'rate_limit_exceeded'])
      expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('4')
      expect(refused.headers.get('retry-after')).toBe('1')
    }
    late.open()
    await done(await holding)
    expect(money.key(id).tokensUsed).toBe(40)
    for (let i = 0; i < 4; i++) {
      const refused = await ask(secret)
      expect([refused.status, codeOf(refused), refused.headers.get('x-should-retry')]).toEqual([
        402,
        'quota_exhausted',
        'false',
      ])
      expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('4')
    }
  })
})

describe('requests at once', () => {
  test('are exactly as many as the limit', async () => {
    const { secret } = await money.issue({ concurrency: 3 })
    const late = gate()
    money.answers(async (wire, stream) => {
      await late.opened
      return spoken(wire, stream)
    })
    const from = money.provider.requests.length
    const inside = Array.from({ length: 3 }, () => money.ask('messages', 'messages', { secret }))
    await money.provider.arrived(from + 2)
    const refused = await money.ask('messages', 'messages', { secret })
    expect([refused.status, codeOf(refused), refused.headers.get('retry-after')]).toEqual([
      429,
      'rate_limit_exceeded',
      '1',
    ])
    late.open()
    for (const each of inside) expect(await done(await each)).toMatchObject({ status: 200 })
    expect(await ask(secret)).toMatchObject({ status: 200 })
  })

  const failing: Script = { status: 500, steps: ['no'] }
  const endings: [string, boolean, (wire: ChatWire) => Script][] = [
    ['an answer', false, (wire) => spoken(wire, false)],
    ['a stream', true, (wire) => spoken(wire, true)],
    ['an error', false, () => failing],
    ['an error before a stream', true, () => failing],
    ['a reset', true, () => ({ end: 'reset' })],
    ['a stream that is cut', true, (wire) => spoken(wire, true, { end: 'cut' })],
    ['a stream without a word', true, () => ({ headers: { 'content-type': 'text/event-stream' }, steps: [] })],
  ]
  describe.each(CROSSINGS)('%s → %s', (client, provider) => {
    test.each(endings)('free their place after %s', async (_, stream, script) => {
      const { secret } = await money.issue({ concurrency: 1 })
      const { health } = money.server.gateway
      for (let i = 0; i < 3; i++) {
        for (const { target } of health.states()) health.succeeded(target)
        money.answers((wire) => script(wire))
        const response = await money.ask(client, provider, { secret, stream })
        expect(response.status).not.toBe(429)
        await done(response)
      }
    })

    test.each([true, false])('free their place after a client that disconnects (stream: %s)', async (stream) => {
      const { secret } = await money.issue({ concurrency: 1 })
      for (let i = 0; i < 3; i++) {
        money.answers((wire) => (stream ? spoken(wire, true, { steps: ['a', gate()] }) : { end: 'hang' }))
        const from = money.provider.requests.length
        const socket = connect(money.url)
        socket.write(rawPost(PATHS[client], secret, JSON.stringify(requestOn(client, MODEL_OF[provider], stream))))
        const request = await money.provider.arrived(from)
        if (stream) await socket.hears('200 OK')
        socket.socket.destroy()
        expect(await request.closed).toBe('aborted')
        // What a stream left unsaid is counted later: its place is free by now.
        if (!stream) await money.idle()
      }
      await money.idle()
    })
  })

  test.each([true, false])(
    'free their place after a stream begun early (its client disconnects: %s)',
    async (leaves) => {
      const { secret } = await money.issue({ concurrency: 1 })
      const { gateway } = money.server
      const before = gateway.earlyStartMs
      gateway.earlyStartMs = 5
      try {
        for (let i = 0; i < 3; i++) {
          const late = gate()
          money.answers(async (wire) => {
            await late.opened
            return spoken(wire, true)
          })
          const from = money.provider.requests.length
          const socket = connect(money.url)
          socket.write(rawPost('/v1/messages', secret, JSON.stringify(requestOn('messages', MODEL_OF.messages, true))))
          await socket.hears('200 OK')
          const request = await money.provider.arrived(from)
          expect(await money.ask('messages', 'messages', { secret })).toMatchObject({ status: 429 })
          if (leaves) {
            socket.socket.destroy()
            expect(await request.closed).toBe('aborted')
          }
          late.open()
          if (!leaves) await socket.hears('message_stop')
          await money.idle()
          socket.socket.destroy()
        }
      } finally {
        gateway.earlyStartMs = before
      }
    },
  )
})
