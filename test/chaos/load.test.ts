// Many at once: none of them is dropped, and past what the machine is given clients are told so at once.

import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { SERVING } from '../binary/support/process.ts'
import { gate, type Handler, type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { until } from '../support/until.ts'
import { type Attacked, type OpenOptions, openGateway, providersAt } from './support/gateway.ts'
import { connect, type RawClient, rawPost } from './support/socket.ts'
import { CHAT, MESSAGES, RESPONSES, streamed, whole } from './support/stories.ts'

const stopping = stopsAfterEach()

const start = async (
  handler: Handler,
  more: object = {},
  options: OpenOptions = {},
): Promise<{ provider: Scripted; gateway: Attacked }> => {
  const provider = stopping(await startScripted(handler))
  const gateway = stopping(await openGateway({ providers: providersAt({ b: [provider.origin] }), ...more }, options))
  return { provider, gateway }
}

/** So many calls to providers at once are more than this process may have. */
const APART: OpenOptions = { apart: true }
const STREAMS = 2_000

test(`${STREAMS} open streams at once are all served to their end`, async () => {
  const finish = gate()
  const { provider, gateway } = await start(
    () => streamed(CHAT, CHAT.word('hello'), finish, CHAT.word('goodbye')),
    {},
    APART,
  )
  const before = await gateway.figures()
  const clients = Array.from({ length: STREAMS }, () => connect(gateway.url))
  const request = rawPost(CHAT.path, gateway.secret, JSON.stringify(CHAT.request(true)))
  for (const client of clients) client.write(request)
  await Promise.all(clients.map((client) => client.hears('hello')))
  const during = await gateway.figures()
  expect([during.open, provider.requests.length]).toEqual([STREAMS, STREAMS])
  expect((during.rssBytes - before.rssBytes) / STREAMS).toBeLessThan(64 * 1024)
  // Others are served meanwhile.
  expect((await fetch(`${gateway.url}/v1`)).status).toBe(200)
  finish.open()
  const ends = await Promise.all(clients.map((client) => client.hears('[DONE]')))
  expect(ends.filter((text) => text.includes('goodbye'))).toHaveLength(STREAMS)
  for (const client of clients) client.socket.destroy()
  const after = await gateway.quiet()
  expect(after.sum('sluice_requests_total{wire="chat-completions",model="vendorB-5.5",outcome="done"')).toBe(STREAMS)
})

describe('an open stream does not hold the long conversation it answers', () => {
  const LONG_STREAMS = 250
  const turns = Array.from({ length: 300 }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `${at}: ${'a line “of code” \n'.repeat(50)}`,
  }))
  const last = { role: 'user', content: 'Go on.' }
  const conversation = JSON.stringify({ ...MESSAGES.request(true), messages: [...turns, last] })
  // The runtime holds what it has sent for as long as the answer runs, reads into buffers of 256 KB, and collects late.
  const bytes = Buffer.byteLength(conversation)

  test.each([
    ['that passes', MESSAGES.model, MESSAGES, 3],
    ['that is translated', CHAT.model, RESPONSES, 4],
  ])(
    '%s',
    async (_, model, story, times) => {
      const provider = stopping(await startScripted(() => streamed(story, story.word('hello'), gate())))
      const providers = providersAt({ a: [provider.origin], b: [provider.origin] })
      const gateway = stopping(await openGateway({ providers }, APART))
      const body = conversation.replace(MESSAGES.model, model)
      const begin = async () => {
        const client = connect(gateway.url)
        client.write(rawPost(MESSAGES.path, gateway.secret, body))
        await client.hears('hello')
        return client
      }
      // What the first ones need is loaded by them.
      const warm = [await begin(), await begin(), await begin()]
      const before = await gateway.figures()
      const clients: Awaited<ReturnType<typeof begin>>[] = []
      while (clients.length < LONG_STREAMS) clients.push(await begin())
      const during = await gateway.figures()
      for (const { socket } of [...warm, ...clients]) socket.destroy()
      expect((during.rssBytes - before.rssBytes) / LONG_STREAMS).toBeLessThan(times * bytes)
      await gateway.quiet()
    },
    120_000,
  )
})

test('clients that disconnect all at once leave nothing open', async () => {
  const { provider, gateway } = await start(() => streamed(CHAT, CHAT.word('hello'), gate()), {}, APART)
  const before = await gateway.figures()
  const clients = Array.from({ length: 500 }, () => connect(gateway.url))
  const request = rawPost(CHAT.path, gateway.secret, JSON.stringify(CHAT.request(true)))
  for (const client of clients) client.write(request)
  await Promise.all(clients.map((client) => client.hears('hello')))
  for (const client of clients) client.socket.destroy()
  const after = await gateway.quiet()
  expect(new Set(await Promise.all(provider.requests.map(({ closed }) => closed)))).toEqual(new Set(['aborted']))
  expect(after.fds).toBeLessThan(before.fds + 20)
})

describe('load is shed', () => {
  const refused = async (gateway: Attacked): Promise<void> => {
    const response = await gateway.post(CHAT.path, CHAT.request(false))
    expect([response.status, response.headers.get('x-gateway-error-code')]).toEqual([503, 'service_unavailable'])
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    await response.text()
  }

  test('past max_open_exchanges, and only then', async () => {
    const finish = gate()
    const { provider, gateway } = await start(({ text }) => answer(text, finish), { max_open_exchanges: 3 })
    const held = [0, 1, 2].map(() => gateway.post(CHAT.path, CHAT.request(true)).then((each) => each.text()))
    await provider.arrived(2)
    await refused(gateway)
    expect(provider.requests).toHaveLength(3)
    finish.open()
    for (const text of await Promise.all(held)) expect(text).toContain('[DONE]')
    await gateway.quiet()
    expect((await gateway.post(CHAT.path, CHAT.request(false))).status).toBe(200)
  })

  test('past max_open_exchanges when all come at once', async () => {
    const finish = gate()
    const { provider, gateway } = await start(({ text }) => answer(text, finish), { max_open_exchanges: 3 })
    let refusals = 0
    const all = Array.from({ length: 40 }, async () => {
      const response = await gateway.post(CHAT.path, CHAT.request(true))
      if (response.status === 503) refusals++
      return response.text()
    })
    await until(() => provider.requests.length + refusals >= all.length)
    expect(provider.requests).toHaveLength(3)
    finish.open()
    await Promise.all(all)
    await gateway.quiet()
  })

  // What is on its way to it, and what it holds in memory, each of several processes bounds for itself.
  const testOfOne = test.skipIf(SERVING > 1)

  testOfOne('by counting bodies that are still arriving', async () => {
    const { gateway } = await start(() => whole(CHAT), { max_open_exchanges: 2 })
    const half = () => {
      const client = connect(gateway.url)
      client.write(rawPost(CHAT.path, gateway.secret, '{"model":', 500))
      return client
    }
    const clients = [half(), half()]
    await until(async () => (await gateway.figures()).sum('sluice_arriving_requests ') >= 2)
    await refused(gateway)
    for (const { socket } of clients) socket.destroy()
    await until(async () => (await gateway.figures()).sum('sluice_arriving_requests ') === 0)
    expect((await gateway.post(CHAT.path, CHAT.request(false))).status).toBe(200)
  })

  testOfOne('by counting compressed bodies at what they may expand to', async () => {
    const finish = gate()
    const limits = { max_memory: '1GB', body_limit: '2GB' }
    const { provider, gateway } = await start(({ text }) => answer(text, finish), limits)
    // Hardly compressed, it may still expand to a hundred times its size.
    const noise = randomBytes(6_000_000).toString('base64')
    const body = Bun.gzipSync(JSON.stringify({ ...CHAT.request(false), metadata: { noise } }))
    const packed = () =>
      fetch(gateway.url + CHAT.path, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.secret}`, 'content-encoding': 'gzip' },
        body,
      })
    const held = gateway.post(CHAT.path, CHAT.request(true)).then((each) => each.text())
    await provider.arrived(0)
    expect((await packed()).status).toBe(503)
    finish.open()
    await held
    await gateway.quiet()
    expect((await packed()).status).toBe(200)
  })

  testOfOne('past max_memory while anything is in flight; a request that is alone is admitted', async () => {
    const finish = gate()
    const { provider, gateway } = await start(({ text }) => answer(text, finish), { max_memory: '1MB' })
    const alone = gateway.post(CHAT.path, CHAT.request(true)).then((each) => each.text())
    await provider.arrived(0)
    await refused(gateway)
    finish.open()
    expect(await alone).toContain('[DONE]')
    await gateway.quiet()
    expect((await gateway.post(CHAT.path, CHAT.request(false))).status).toBe(200)
  })

  test.each([true, false])(
    'whole answers that there is no room for, their account not to blame (told length: %p)',
    async (told) => {
      const text = JSON.stringify({
        ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'up' },
        choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(3_000_000) }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
      })
      const halves = [text.slice(0, 2_000_000), text.slice(2_000_000)]
      const headers = { 'content-type': 'application/json', ...(told ? { 'content-length': `${text.length}` } : {}) }
      const { provider, gateway } = await start(() => ({ headers, steps: halves }), { max_memory: '1MB' })
      for (let at = 0; at < 6; at++) await refused(gateway)
      expect(provider.requests).toHaveLength(6)
      const figures = await gateway.quiet()
      expect([figures.sum('sluice_breaker_state'), figures.open]).toEqual([0, 0])
      await gateway.reload({ providers: providersAt({ b: [provider.origin] }) })
      expect(await (await gateway.post(CHAT.path, CHAT.request(false))).text()).toContain('xxx')
    },
  )
})

describe.skipIf(process.platform === 'win32')('with fewer descriptors than clients', () => {
  const FEW: OpenOptions = { descriptors: 128 }
  const CLIENTS = 200

  test('each is answered, some with 503, and all afterwards', async () => {
    const finish = gate()
    const { provider, gateway } = await start(
      ({ text }) => (JSON.parse(text).stream === true ? streamed(CHAT, CHAT.word('hello'), finish) : whole(CHAT)),
      {},
      FEW,
    )
    const request = rawPost(CHAT.path, gateway.secret, JSON.stringify(CHAT.request(true)))
    const clients = Array.from({ length: CLIENTS }, () => connect(gateway.url))
    // The first requests of this process are among them.
    for (const client of clients) client.write(request)
    const words = await Promise.all(clients.map((client) => client.hears('\r\n\r\n')))
    const refused = words.filter((text) => text.startsWith('HTTP/1.1 503'))
    expect(refused.length).toBeGreaterThan(CLIENTS / 3)
    expect(refused.length + words.filter((text) => text.startsWith('HTTP/1.1 200')).length).toBe(CLIENTS)
    for (const text of refused) {
      expect(text).toContain('x-gateway-error-code: service_unavailable')
      expect(text).toMatch(/^retry-after: [1-9]/m)
    }
    finish.open()
    for (const client of clients) client.socket.destroy()
    const after = await gateway.quiet()
    expect(after.sum('sluice_breaker_state')).toBe(0)
    expect(after.sum('sluice_requests_total{')).toBe(CLIENTS)
    expect((await gateway.post(CHAT.path, CHAT.request(false))).status).toBe(200)
    expect(provider.requests.length).toBeGreaterThan(0)
  })

  describe.skipIf(process.platform !== 'linux').each<[string, Slow]>([
    ['that send nothing', () => ['']],
    ['in the middle of a first line', () => ['POST /v1/mess', 'a']],
    ['in the middle of headers', ({ secret }) => [`GET /v1/models HTTP/1.1\r\nX-Api-Key: ${secret}\r\nX-Long: `, 'a']],
    ['that sign in', (to) => [headOf(to, '/admin/api/session', 'Content-Length: 200'), ' ']],
    ['that set up', (to) => [headOf(to, '/admin/api/setup', 'Transfer-Encoding: chunked'), '1\r\n \r\n']],
    ['with an invitation', (to) => [headOf(to, '/admin/api/invitation/open', 'Content-Length: 900000'), ' ']],
    ['that ask without a key', (to) => [headOf(to, MESSAGES.path, 'Content-Length: 900000'), ' ']],
    ['that ask with a key', (to) => [headOf(to, RESPONSES.path, 'Content-Length: 900000', to.secret), ' ']],
    [
      'that ask with a key, in pieces',
      (to) => [headOf(to, CHAT.path, 'Transfer-Encoding: chunked', to.secret), '1\r\n \r\n'],
    ],
    [
      'with a wrong key that wait to be told to go on',
      (to) => [headOf(to, MESSAGES.path, 'Expect: 100-continue\r\nContent-Length: 900000', 'sk-wrong'), ' '],
    ],
    ['that send a page something', (to) => [headOf(to, '/docs', 'Content-Length: 900000'), ' ']],
    ['that read nothing of many answers', () => ['GET /docs/guides.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20)]],
  ])('clients %s', (_, slow) => {
    test.each([
      ['keep nobody with a key waiting', false],
      ['nor do they where they come back at once', true],
    ])(
      '%s',
      async (_, again) => {
        const { gateway } = await start(() => whole(CHAT), {}, FEW)
        const [head, more] = slow(gateway)
        const paused = head.startsWith('GET /docs')
        const clients: RawClient[] = []
        let isOver = false
        const come = (at: number): void => {
          const client = connect(gateway.url, paused)
          client.write(head)
          clients[at] = client
          if (again) void client.closed.then(() => isOver || come(at))
        }
        for (let at = 0; at < CLIENTS; at++) come(at)
        const trickle = setInterval(() => {
          if (more !== undefined) for (const client of clients) client.write(more)
        }, 100)
        // All of them are still there: whoever waited for their end would wait for the runtime's ten seconds, or for ever.
        let served = 0
        while (served < 3) {
          const signal = AbortSignal.timeout(9_000)
          const { status } = await gateway.post(CHAT.path, CHAT.request(false), { signal })
          if (status === 200) served++
          else expect(status).toBe(503)
        }
        isOver = true
        clearInterval(trickle)
        for (const client of clients) client.socket.destroy()
        expect((await gateway.quiet()).sum('sluice_breaker_state')).toBe(0)
      },
      120_000,
    )
  })

  /** Secrets of keys made for it. */
  const keysOf = (gateway: Attacked, count: number): Promise<string[]> =>
    Promise.all(
      Array.from({ length: count }, async (_, at) => {
        const headers = { authorization: `Bearer ${gateway.token}` }
        const body = JSON.stringify({ label: `key-${at}` })
        const made = await fetch(`${gateway.url}/admin/api/keys`, { method: 'POST', headers, body })
        return ((await made.json()) as { secret: string }).secret
      }),
    )

  test.skipIf(process.platform !== 'linux')(
    'slow bodies of one key, whose clients come back at once, keep no other key out',
    async () => {
      const { gateway } = await start(() => whole(CHAT), {}, FEW)
      const [secret] = await keysOf(gateway, 1)
      const head = headOf(gateway, CHAT.path, 'Content-Length: 900000', secret)
      const clients: RawClient[] = []
      let isOver = false
      const come = (at: number): void => {
        const client = connect(gateway.url)
        client.write(`${head}{`)
        clients[at] = client
        void client.closed.then(() => isOver || come(at))
      }
      for (let at = 0; at < CLIENTS; at++) come(at)
      const answers: number[] = []
      while (answers.length < 10) answers.push((await gateway.post(CHAT.path, CHAT.request(false))).status)
      isOver = true
      for (const client of clients) client.socket.destroy()
      await gateway.quiet()
      // Where not one descriptor is left at the moment of the call, it is 503 still.
      expect(answers.filter((status) => status === 200).length).toBeGreaterThan(6)
    },
    120_000,
  )

  test('those of many keys are let in no more than those of one', async () => {
    const finish = gate()
    const { gateway } = await start(() => streamed(CHAT, CHAT.word('hello'), finish), {}, FEW)
    const secrets = await keysOf(gateway, 40)
    const text = JSON.stringify(CHAT.request(true))
    const clients = Array.from({ length: CLIENTS }, () => connect(gateway.url))
    for (const [at, client] of clients.entries())
      client.write(rawPost(CHAT.path, secrets[at % secrets.length] ?? '', text))
    const words = await Promise.all(clients.map((client) => client.hears('\r\n\r\n')))
    expect(words.filter((word) => word.startsWith('HTTP/1.1 503')).length).toBeGreaterThan(CLIENTS / 3)
    expect(words.filter((word) => /^HTTP\/1.1 (?:503|200)/.test(word))).toHaveLength(CLIENTS)
    finish.open()
    for (const client of clients) client.socket.destroy()
    expect((await gateway.quiet()).sum('sluice_breaker_state')).toBe(0)
  })

  test('idle kept connections make room for others', async () => {
    const { gateway } = await start(() => whole(CHAT), {}, FEW)
    for (let at = 0; at < CLIENTS; at++) {
      const client = connect(gateway.url)
      client.write('GET /v1 HTTP/1.1\r\nHost: gateway\r\n\r\n')
      await client.hears('\r\n\r\n')
    }
    expect((await gateway.post(CHAT.path, CHAT.request(false))).status).toBe(200)
  })
})

/** What each of many clients sends, and what it goes on to trickle. */
type Slow = (to: Attacked) => [head: string, more?: string]

/** The beginning of a POST from the dashboard's own origin, or by a key. */
const headOf = ({ url }: Attacked, path: string, length: string, secret?: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nOrigin: ${url}\r\n` +
  `${secret === undefined ? '' : `Authorization: Bearer ${secret}\r\n`}${length}\r\n\r\n`

const answer = (text: string, finish: ReturnType<typeof gate>): Script =>
  JSON.parse(text).stream === true ? streamed(CHAT, finish, CHAT.word('hello')) : whole(CHAT)
