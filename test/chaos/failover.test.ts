// Accounts that fail, cool down and come back, in front of clients that should notice none of it.

import { describe, expect, test } from 'bun:test'
import type { FileConfig } from '../../src/config/schema.ts'
import { BINARY, SERVING } from '../binary/support/process.ts'
import { freePort } from '../support/free-port.ts'
import { type Handler, json, type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { type Attacked, openGateway, providersAt } from './support/gateway.ts'
import { CHAT, MESSAGES, RESPONSES, SSE, streamed, whole } from './support/stories.ts'

const stopping = stopsAfterEach()

const provider = async (handler: Handler): Promise<Scripted> => stopping(await startScripted(handler))

const gatewayOf = async (file: FileConfig, clock?: () => number): Promise<Attacked> =>
  stopping(await openGateway(file, clock === undefined ? {} : { clock }))

/** Nobody listens there. */
const deadOrigin = (): string => `http://127.0.0.1:${freePort()}`

const broken = json({ error: { message: 'no', type: 'server_error' } }, 500)
const refusing = (retryAfter: string) =>
  json({ error: { message: 'slow down', type: 'rate_limit_error' } }, 429, { 'retry-after': retryAfter })

const ask = async (gateway: Attacked, stream = false, init: RequestInit = {}): Promise<number> => {
  const response = await gateway.post(CHAT.path, CHAT.request(stream), init)
  const text = await response.text()
  return stream && !text.includes('[DONE]') ? 0 : response.status
}

/** How many requests are asked at once. */
const WORKERS = 20

/** Asks so many times. */
const askMany = async (gateway: Attacked, count: number): Promise<Map<number, number>> => {
  const statuses = new Map<number, number>()
  let left = count
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      const status = await ask(gateway, left % 2 === 0)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, worker))
  return statuses
}

const answering: Handler = ({ text }) => (JSON.parse(text).stream === true ? streamed(CHAT) : whole(CHAT))

test.each([404, 409, 424])('%d, which a client can cause, does not open the breaker', async (status) => {
  const picky = await provider(({ text }) => (text.includes('odd') ? json({ error: {} }, status) : whole(CHAT)))
  const gateway = await gatewayOf({ providers: providersAt({ b: [picky.origin] }) })
  const odd = { ...CHAT.request(false), user: 'odd' }
  for (let at = 0; at < 10; at++) expect((await gateway.post(CHAT.path, odd)).status).toBe(502)
  expect((await gateway.figures()).sum('sluice_breaker_state')).toBe(0)
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200)
})

test.each(['model_not_found', 'DeploymentNotFound'])(
  '%s, for a model the account does not have, opens the breaker',
  async (code) => {
    const without = await provider(() => json({ error: { code } }, 404))
    const gateway = await gatewayOf({ providers: providersAt({ b: [without.origin] }) })
    for (let at = 0; at < 10; at++) expect(await ask(gateway)).toBe(502)
    expect((await gateway.figures()).sum('sluice_breaker_state')).toBe(2)
  },
)

describe('an account', () => {
  const BREAKS: [string, () => Script, boolean][] = [
    ['ends without its end', () => ({ headers: SSE, steps: [CHAT.word('half')] }), true],
    ['falls silent', () => ({ headers: SSE, steps: [CHAT.word('half')], end: 'stall' }), true],
    [
      'reports a failure',
      () => ({
        headers: SSE,
        steps: [CHAT.word('half'), 'data: {"error":{"message":"no","type":"server_error"}}\n\n'],
      }),
      true,
    ],
    [
      'refuses the content',
      () => ({ headers: SSE, steps: [CHAT.word('half'), 'data: {"error":{"code":"content_filter"}}\n\n'] }),
      false,
    ],
  ]
  test.each(BREAKS)('that %s in the middle of its streams', async (_, breaking, counts) => {
    const cut = await provider(breaking)
    const gateway = await gatewayOf({ providers: providersAt({ b: [cut.origin] }, { idle: '20ms' }) })
    for (let at = 0; at < 5; at++) {
      const response = await gateway.post(CHAT.path, CHAT.request(true))
      expect(await response.text()).toContain('event: error')
    }
    const figures = await gateway.quiet()
    expect(figures.sum('sluice_breaker_state{provider="vendor_b",account="one"')).toBe(counts ? 2 : 0)
    expect(figures.sum('sluice_attempts_in_flight')).toBe(0)
  })

  test('whose streams clients leave is healthy', async () => {
    const endless = await provider(() => ({ headers: SSE, steps: [CHAT.word('half')], end: 'stall' }))
    const gateway = await gatewayOf({ providers: providersAt({ b: [endless.origin] }) })
    for (let at = 0; at < 6; at++) {
      const leaving = new AbortController()
      const response = await gateway.post(CHAT.path, CHAT.request(true), { signal: leaving.signal })
      await response.body?.getReader().read()
      leaving.abort()
    }
    expect((await gateway.quiet()).sum('sluice_breaker_state')).toBe(0)
  })
})

describe('two accounts', () => {
  test.each([
    ['refuses connections', deadOrigin],
    ['answers 500', async () => (await provider(() => broken)).origin],
    ['answers 401', async () => (await provider(() => json({ error: { message: 'who?' } }, 401))).origin],
    ['resets connections', async () => (await provider(() => ({ end: 'reset' }))).origin],
    ['answers 429', async () => (await provider(() => refusing('30'))).origin],
    ['ends streams before they begin', async () => (await provider(() => ({ headers: SSE, steps: [] }))).origin],
  ])(
    'of which one %s: none of 1,000 requests is lost',
    async (_, makeDead) => {
      const dead = await makeDead()
      const alive = await provider(answering)
      const gateway = await gatewayOf({ providers: providersAt({ b: [dead, alive.origin] }) })
      const failed = async (): Promise<number> => {
        const figures = await gateway.quiet()
        return figures.sum('sluice_attempts_total') - figures.sum('sluice_requests_total')
      }
      expect(await askMany(gateway, 1_000)).toEqual(new Map([[200, 1_000]]))
      // Five open the breaker, those under way then fail as well, and every ten seconds one looks again.
      const before = await failed()
      expect(before).toBeLessThanOrEqual(5 + WORKERS + 5)
      expect(await askMany(gateway, 200)).toEqual(new Map([[200, 200]]))
      // Each process learns for itself, and one that had few of the first may do so by these.
      expect((await failed()) - before).toBeLessThanOrEqual(3 + 5 * (SERVING - 1))
    },
    120_000,
  )

  test('of which one hangs: a request moves on after the first-byte timeout', async () => {
    const hanging = await provider(() => ({ end: 'hang' }))
    const alive = await provider(answering)
    const gateway = await gatewayOf({
      providers: providersAt({ b: [hanging.origin, alive.origin] }, { first_byte: '2s' }),
    })
    const statuses = await Promise.all(Array.from({ length: 40 }, () => ask(gateway)))
    expect(new Set(statuses)).toEqual(new Set([200]))
    await gateway.quiet()
    for (const request of hanging.requests) expect(await request.closed).toBe('aborted')
  })

  test('share the requests by weight', async () => {
    const origins = await Promise.all([provider(answering), provider(answering)])
    const file = { providers: providersAt({ b: origins.map(({ origin }) => origin) }) }
    const [first] = file.providers.vendor_b.accounts
    if (first) Object.assign(first, { weight: 3 })
    const gateway = await gatewayOf(file)
    await askMany(gateway, 800)
    const [heavy = 0, light = 0] = origins.map(({ requests }) => requests.length)
    expect(heavy + light).toBe(800)
    // Each process that serves shares its own requests by weight: to the request, but for its last round.
    expect(Math.abs(heavy - 600)).toBeLessThan(SERVING)
  })

  test('keep a conversation on the account it began on', async () => {
    const origins = await Promise.all([provider(answering), provider(answering)])
    const gateway = await gatewayOf({ providers: providersAt({ b: origins.map(({ origin }) => origin) }) })
    const placesOf = async (turns: (at: number) => { body: object; headers?: Record<string, string> }) => {
      const places: number[] = []
      for (let at = 0; at < 12; at++) {
        const before = origins.map(({ requests }) => requests.length)
        const { body, headers = {} } = turns(at)
        const response = await gateway.post(CHAT.path, body, { headers })
        await response.text()
        places.push(origins.findIndex(({ requests }, index) => requests.length > (before[index] ?? 0)))
      }
      return new Set(places)
    }
    for (let conversation = 0; conversation < 6; conversation++) {
      const opening = { role: 'user', content: `conversation ${conversation}` }
      const history = (at: number) =>
        Array.from({ length: at }, () => [
          { role: 'assistant', content: 'and?' },
          { role: 'user', content: 'go on' },
        ]).flat()
      const byOpening = await placesOf((at) => ({
        body: { model: CHAT.model, messages: [opening, ...history(at)] },
      }))
      expect(byOpening.size).toBe(1)
      const byName = await placesOf(() => ({
        body: CHAT.request(false),
        headers: { 'x-session-id': `named ${conversation}` },
      }))
      expect(byName.size).toBe(1)
    }
    // Conversations as such are spread.
    expect(origins.every(({ requests }) => requests.length > 0)).toBe(true)
  })

  test.each([false, true])('continue an answer on the account that made it, stream %p', async (stream) => {
    let made = 0
    const answers: Handler = ({ text }) => {
      const story = JSON.parse(text).stream === true ? streamed(RESPONSES) : whole(RESPONSES)
      const named = `"id":"resp_${++made}"`
      return { ...story, steps: [...(story.steps as string[])].map((step) => step.replaceAll('"id":"r1"', named)) }
    }
    const origins = await Promise.all([provider(answers), provider(answers)])
    const gateway = await gatewayOf({ providers: providersAt({ b: origins.map(({ origin }) => origin) }) })
    const places = (): number[] => origins.map(({ requests }) => requests.length)
    for (let conversation = 0; conversation < 8; conversation++) {
      const before = places()
      let previous: string | undefined
      for (let turn = 0; turn < 4; turn++) {
        const body = { ...RESPONSES.request(stream), input: `${conversation} ${turn}`, previous_response_id: previous }
        const text = await (await gateway.post(RESPONSES.path, body)).text()
        previous = /"id":"(resp_\d+)"/.exec(text)?.[1]
        expect(previous).toBe(`resp_${made}`)
      }
      expect(
        places()
          .map((count, at) => count - (before[at] ?? 0))
          .toSorted(),
      ).toEqual([0, 4])
    }
  })

  test.skipIf(BINARY !== undefined)(
    'go back to where an answer was made once that account can be asked again',
    async () => {
      let now = 1_000_000
      let busy = false
      const answers: Handler = () => (busy ? refusing('30') : whole(RESPONSES))
      const other = whole(RESPONSES)
      const named = [...(other.steps as string[])].map((step) => step.replaceAll('"id":"r1"', '"id":"r2"'))
      const origins = await Promise.all([provider(answers), provider(() => ({ ...other, steps: named }))])
      const places = { b: origins.map(({ origin }) => origin) }
      const gateway = await gatewayOf({ providers: providersAt(places) }, () => now)
      const goOn = async (previous?: string): Promise<void> => {
        const body = { ...RESPONSES.request(false), input: `${now}`, previous_response_id: previous }
        expect((await gateway.post(RESPONSES.path, body)).status).toBe(200)
      }
      const asked = (): number => origins[0]?.requests.length ?? 0
      while (asked() === 0) await goOn()
      busy = true
      for (let at = 0; at < 3; at++) await goOn('r1')
      expect(asked()).toBe(2)
      busy = false
      now += 31_000
      await goOn('r1')
      expect(asked()).toBe(3)
    },
  )

  test.skipIf(BINARY !== undefined)(
    'get a conversation back whose own account failed, once nothing of it is kept elsewhere',
    async () => {
      let now = 1_000_000
      let busy = false
      const handler: Handler = (...all) => (busy ? refusing('30') : answering(...all))
      const origins = await Promise.all([provider(handler), provider(answering)])
      const gateway = await gatewayOf({ providers: providersAt({ b: origins.map(({ origin }) => origin) }) }, () => now)
      const [own, other] = origins.map(({ requests }) => requests)
      const say = (name: string) => ask(gateway, false, { headers: { 'x-session-id': name } })
      let name = ''
      for (let at = 0; own?.length === 0; at++) {
        name = `talk ${at}`
        await say(name)
      }
      busy = true
      for (let at = 0; at < 2; at++) expect(await say(name)).toBe(200)
      busy = false
      now += 31_000
      const elsewhere = other?.length ?? 0
      expect(await say(name)).toBe(200)
      expect([own?.length, other?.length]).toEqual([2, elsewhere + 1])
      now += 300_000
      expect(await say(name)).toBe(200)
      expect([own?.length, other?.length]).toEqual([3, elsewhere + 1])
    },
  )

  test('move a conversation to the other account when its own fails, and keep it there', async () => {
    let down = false
    const origins = await Promise.all([provider((...all) => (down ? broken : answering(...all))), provider(answering)])
    const gateway = await gatewayOf({ providers: providersAt({ b: origins.map(({ origin }) => origin) }) })
    const say = (name: string) => ask(gateway, false, { headers: { 'x-session-id': name } })
    let name = ''
    for (let at = 0; origins[0]?.requests.length === 0; at++) {
      name = `talk ${at}`
      await say(name)
    }
    down = true
    for (let at = 0; at < 20; at++) expect(await say(name)).toBe(200)
    expect(origins[1]?.requests.length).toBeGreaterThanOrEqual(20)
  })
})

test("a provider's Retry-After is honoured: the account is left alone until then, and clients get it", async () => {
  const limited = await provider(() => refusing('30'))
  const alive = await provider(answering)
  const both = await gatewayOf({ providers: providersAt({ b: [limited.origin, alive.origin] }) })
  for (let at = 0; at < 60; at++) expect(await ask(both)).toBe(200)
  expect(limited.requests.length).toBe(1)

  const alone = await gatewayOf({ providers: providersAt({ b: [limited.origin] }) })
  const response = await alone.post(CHAT.path, CHAT.request(false))
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30'])
  expect(response.headers.get('x-should-retry')).toBeNull()
  await alone.quiet()
})

test('a request over one account’s limit per request goes to another, and does not count against the first', async () => {
  const error = { message: 'Request too large for x', type: 'tokens', code: 'rate_limit_exceeded' }
  const small = await provider(() => json({ error }, 429))
  const alone = await gatewayOf({ providers: providersAt({ b: [small.origin] }) })
  for (let at = 0; at < 8; at++) {
    const refused = await alone.post(CHAT.path, CHAT.request(false))
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([503, 'false'])
    await refused.text()
  }
  const large = await provider(answering)
  const both = await gatewayOf({ providers: providersAt({ b: [small.origin, large.origin] }) })
  for (let at = 0; at < 20; at++) expect(await ask(both)).toBe(200)
  expect([small.requests.length, large.requests.length]).toEqual([8 + 10, 20])
})

test('a request over one account’s limit is retryable where another account is only busy', async () => {
  const error = { message: 'Request too large for x', type: 'tokens', code: 'rate_limit_exceeded' }
  const small = await provider(() => json({ error }, 429))
  const busy = await provider(() => refusing('30'))
  for (const accounts of [
    [small.origin, busy.origin],
    [busy.origin, small.origin],
  ]) {
    const gateway = await gatewayOf({ providers: providersAt({ b: accounts }) })
    const response = await gateway.post(CHAT.path, CHAT.request(false))
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30'])
    expect(response.headers.get('x-should-retry')).toBeNull()
  }
})

test('the client is told when to retry where one account is busy and the other is down', async () => {
  const busy = await provider(() => refusing('30'))
  for (const accounts of [
    [busy.origin, deadOrigin()],
    [deadOrigin(), busy.origin],
  ]) {
    const gateway = await gatewayOf({ providers: providersAt({ b: accounts }) })
    const response = await gateway.post(CHAT.path, CHAT.request(false))
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30'])
  }
})

test('an absurd Retry-After is capped at a day, whatever its unit', async () => {
  for (const header of [{ 'retry-after': '1e9' }, { 'retry-after': '999999999999' }, { 'retry-after-ms': '1e300' }]) {
    const limited = await provider(() => json({ error: { message: 'no', type: 'rate_limit_error' } }, 429, header))
    const gateway = await gatewayOf({ providers: providersAt({ b: [limited.origin] }) })
    const response = await gateway.post(CHAT.path, CHAT.request(false))
    expect(response.status).toBe(503)
    expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(86_400)
  }
})

test('a success that began earlier does not end a Retry-After', async () => {
  const held = Promise.withResolvers<void>()
  const limited = await provider(async (_, index) => {
    if (index > 0) return refusing('30')
    await held.promise
    return whole(CHAT)
  })
  const alive = await provider(answering)
  const gateway = await gatewayOf({ providers: providersAt({ b: [limited.origin, alive.origin] }) })
  let early = ask(gateway)
  for (; await Promise.race([early.then(() => true), limited.arrived(0).then(() => false)]); early = ask(gateway));
  while (limited.requests.length < 2) expect(await ask(gateway)).toBe(200)
  held.resolve()
  expect(await early).toBe(200)
  for (let at = 0; at < 40; at++) expect(await ask(gateway)).toBe(200)
  expect(limited.requests.length).toBe(2)
})

describe('fallbacks', () => {
  test('another vendor answers in the client wire, named by its own model', async () => {
    const down = await provider(() => broken)
    const other = await provider(({ text }) => (JSON.parse(text).stream ? streamed(RESPONSES) : whole(RESPONSES)))
    const gateway = await gatewayOf({
      providers: providersAt({ a: [down.origin], b: [other.origin] }),
      fallbacks: { [MESSAGES.model]: [RESPONSES.model] },
    })
    const plain = await gateway.post(MESSAGES.path, MESSAGES.request(false))
    expect(plain.status).toBe(200)
    const answer = (await plain.json()) as { type: string; model: string; content: unknown }
    expect([answer.type, answer.model]).toEqual(['message', RESPONSES.model])
    expect(JSON.stringify(answer.content)).toContain('hello')
    const stream = await (await gateway.post(MESSAGES.path, MESSAGES.request(true))).text()
    expect(stream).toContain('hello')
    expect(stream).toContain('event: message_stop')
    await gateway.quiet()
  })

  test('are not used where the request is at fault', async () => {
    const strict = await provider(() =>
      json(
        {
          type: 'error',
          error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
        },
        400,
      ),
    )
    const other = await provider(() => whole(RESPONSES))
    const gateway = await gatewayOf({
      providers: providersAt({ a: [strict.origin], b: [other.origin] }),
      fallbacks: { [MESSAGES.model]: [RESPONSES.model] },
    })
    const response = await gateway.post(MESSAGES.path, MESSAGES.request(false))
    expect([response.status, response.headers.get('x-gateway-error-code')]).toEqual([400, 'context_length_exceeded'])
    expect(other.requests).toHaveLength(0)
  })

  test('end with max_tries', async () => {
    const down = await provider(() => broken)
    const origins = [down.origin, down.origin, down.origin]
    const gateway = await gatewayOf({ providers: providersAt({ b: origins }), max_tries: 2 })
    expect(await ask(gateway)).toBe(502)
    expect(down.requests).toHaveLength(2)
  })

  test('are not used after the first byte', async () => {
    const heard = Promise.withResolvers<void>()
    const cut = await provider(() => ({
      headers: SSE,
      steps: (async function* () {
        yield CHAT.begin + CHAT.word('half')
        await heard.promise
      })(),
      end: 'cut' as const,
    }))
    const other = await provider(answering)
    const gateway = await gatewayOf({
      providers: providersAt({ b: [cut.origin] }),
      fallbacks: { [CHAT.model]: ['vendorB-5.4'] },
      models: { 'vendorB-5.4': { upstream: 'other' } },
    })
    const response = await gateway.post(CHAT.path, CHAT.request(true))
    heard.resolve()
    const text = await response.text()
    expect(text).toContain('half')
    expect(text).toContain('event: error')
    expect(cut.requests).toHaveLength(1)
    expect(other.requests).toHaveLength(0)
  })
})

describe.skipIf(BINARY !== undefined)('the breaker, with a fake clock', () => {
  test('opens after failures, lets one probe through, and closes when that succeeds', async () => {
    let down = true
    const clock = { at: 1_790_000_000_000 }
    const flaky = await provider((...all) => (down ? broken : answering(...all)))
    const alive = await provider(answering)
    const gateway = await gatewayOf({ providers: providersAt({ b: [flaky.origin, alive.origin] }) }, () => clock.at)
    const state = async () => (await gateway.figures()).sum('sluice_breaker_state{provider="vendor_b",account="one"')
    while ((await state()) === 0) await ask(gateway)
    expect(await state()).toBe(2)
    const opened = flaky.requests.length
    for (let at = 0; at < 40; at++) expect(await ask(gateway)).toBe(200)
    expect(flaky.requests.length).toBe(opened)

    clock.at += 10_000
    expect(await state()).toBe(1)
    for (let at = 0; at < 40 && flaky.requests.length === opened; at++) expect(await ask(gateway)).toBe(200)
    // It was still down: open again, and one request is all it took to see.
    expect([flaky.requests.length, await state()]).toEqual([opened + 1, 2])

    down = false
    clock.at += 10_000
    for (let at = 0; at < 40 && (await state()) !== 0; at++) expect(await ask(gateway)).toBe(200)
    expect(await state()).toBe(0)
    const closed = flaky.requests.length
    for (let at = 0; at < 40; at++) await ask(gateway)
    expect(flaky.requests.length).toBeGreaterThan(closed + 5)
  })

  test('shows in /readyz when no account is left', async () => {
    const clock = { at: 1_790_000_000_000 }
    const down = await provider(() => broken)
    const gateway = await gatewayOf({ providers: providersAt({ b: [down.origin] }) }, () => clock.at)
    const ready = async () => (await fetch(`${gateway.url}/readyz`)).status
    expect(await ready()).toBe(200)
    for (let at = 0; at < 5; at++) await ask(gateway)
    expect(await ready()).toBe(503)
    clock.at += 10_000
    expect(await ready()).toBe(200)
  })
})
