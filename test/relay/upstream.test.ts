// What fetch throws, as an error of ours: what is sent once more, what is told of whom, and who is not to blame.

import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import { GatewayError } from '../../src/errors.ts'
import type { Wire } from '../../src/ir/wire.ts'
import { ran } from '../../src/lib/ran.ts'
import type { Relay } from '../../src/relay/services.ts'
import type { Target } from '../../src/relay/target.ts'
import { canConnect, networkError, send } from '../../src/relay/upstream.ts'

const target = {
  ...{ wire: 'messages', provider: { auth: 'bearer', versionHeader: undefined } },
  account: { credential: 'secret' },
} as Target

const thrown = (code: string | undefined): Error => Object.assign(new Error('no'), code === undefined ? {} : { code })

let since: ReturnType<typeof spyOn> | undefined
afterEach(() => since?.mockRestore())

/** How often a request is sent whose first connection breaks so, after so long; and over what connections. */
const sent = async (code: string | undefined, { afterMs = 0, left = false } = {}) => {
  since = spyOn(ran, 'since').mockReturnValue(afterMs)
  const abort = new AbortController()
  const calls: (boolean | undefined)[] = []
  const fetch: Relay['fetch'] = async (_, init) => {
    calls.push(init.keepalive)
    if (calls.length > 1) return new Response('answer')
    if (left) abort.abort()
    throw thrown(code)
  }
  const outcome = await send(
    { relay: { fetch } as Relay, target, abort },
    { url: 'http://provider' },
    new Headers(),
  ).then(
    (response) => response.text(),
    (error: GatewayError) => error.code,
  )
  return { calls, outcome }
}

describe('a request', () => {
  test.each(['ECONNRESET', 'ConnectionClosed', 'EPIPE'])(
    'on a stale connection (%s) is sent once more, over a new one',
    async (code) => {
      expect(await sent(code)).toEqual({ calls: [undefined, false], outcome: 'answer' })
    },
  )

  test('leaves a compressed answer to whoever reads it, as it leaves a redirect', async () => {
    const inits: RequestInit[] = []
    const fetch: Relay['fetch'] = async (_, init) => {
      inits.push(init)
      return new Response('answer')
    }
    await send(
      { relay: { fetch } as Relay, target, abort: new AbortController() },
      { url: 'http://provider' },
      new Headers(),
    )
    expect(inits).toMatchObject([{ decompress: false, redirect: 'manual' }])
  })

  test.each<[string, string | undefined, { afterMs?: number; left?: boolean }]>([
    ['may have been at work on', 'ECONNRESET', { afterMs: 700 }],
    ['cannot be reached for', 'ConnectionRefused', {}],
    ['breaks off for a reason nobody knows', undefined, {}],
    ['does not answer while its client disconnects', 'ECONNRESET', { left: true }],
  ])('that its provider %s is sent once', async (_, code, how) => {
    expect(await sent(code, how)).toEqual({ calls: [undefined], outcome: 'upstream_error' })
  })
})

describe('after a fault of its server', () => {
  const MINUTE_MS = 60_000
  let now: ReturnType<typeof spyOn> | undefined
  afterEach(() => now?.mockRestore())

  /** Over which connections requests go: one that is answered so, the next, and the first after a minute. */
  const connections = async (url: string, status: number, isSame: boolean): Promise<(boolean | undefined)[]> => {
    const account = { ...target.account }
    const next = isSame ? account : { ...account }
    const calls: (boolean | undefined)[] = []
    const fetch: Relay['fetch'] = async (_, init) => {
      calls.push(init.keepalive)
      return new Response('', { status: calls.length === 1 ? status : 200 })
    }
    let at = performance.now() + MINUTE_MS
    now = spyOn(performance, 'now').mockImplementation(() => at)
    for (const [to, passed] of [
      [account, 0],
      [next, 1],
      [next, MINUTE_MS],
    ] as const) {
      at += passed
      const abort = new AbortController()
      await send({ relay: { fetch } as Relay, target: { ...target, account: to }, abort }, { url }, new Headers())
    }
    return calls
  }

  test.each<[string, string, number, boolean, boolean | undefined]>([
    ['an account gets a new connection for a minute, as the kept one may yet be closed', 'http:', 500, true, false],
    ['another keeps its connections', 'http:', 500, false, undefined],
    ['a vendor’s connections are kept', 'https:', 500, true, undefined],
    ['that it had only too much to do for, none is left', 'http:', 503, true, undefined],
    ['that was the request’s own, none is left', 'http:', 400, true, undefined],
  ])('%s', async (_, scheme, status, isSame, kept) => {
    expect(await connections(`${scheme}//provider`, status, isSame)).toEqual([undefined, kept, undefined])
  })
})

describe('what fetch throws', () => {
  test.each([
    ['ETIMEDOUT', 'gateway_timeout', 'could not be reached in time', undefined],
    ['ConnectionTimeout', 'gateway_timeout', 'could not be reached in time', undefined],
    ['ConnectionRefused', 'upstream_error', 'could not be reached.', 'ConnectionRefused'],
    ['ECONNREFUSED', 'upstream_error', 'could not be reached.', 'ECONNREFUSED'],
    ['FailedToOpenSocket', 'upstream_error', 'could not be reached.', 'FailedToOpenSocket'],
    ['ENOTFOUND', 'upstream_error', 'could not be reached.', 'ENOTFOUND'],
    ['ECONNRESET', 'upstream_error', 'broke off', 'ECONNRESET'],
    ['', 'upstream_error', 'broke off', undefined],
  ] as const)('for %s is %s, which says that the provider %s', (code, ours, words, told) => {
    const error = networkError(thrown(code || undefined), new AbortController())
    expect([error.code, error.provider?.code, error.failover]).toEqual([ours, told, true])
    expect(error.message).toContain(words)
  })

  test.each(['EMFILE', 'ENFILE'])(
    'for want of descriptors (%s) is the gateway’s own, and sends nobody elsewhere',
    (code) => {
      const error = networkError(thrown(code), new AbortController())
      expect(error).toMatchObject({ code: 'service_unavailable', failover: false, retry: true, retryAfterMs: 2_000 })
    },
  )

  test('is the reason the call was aborted with, where there is one', () => {
    const abort = new AbortController()
    const why = new GatewayError('gateway_timeout', 'late')
    abort.abort(why)
    expect(networkError(thrown('ECONNRESET'), abort)).toBe(why)
    expect(networkError(why, new AbortController())).toBe(why)
  })
})

describe('the headers of a request', () => {
  const client = {
    'anthropic-version': '2027-01-01',
    'anthropic-beta': 'tools-2027',
    'openai-beta': 'assistants=v2',
    authorization: 'Bearer sk-sl-client',
    'x-api-key': 'sk-sl-client',
    cookie: 'session=1',
    'x-forwarded-for': '10.0.0.1',
  }
  const always = { 'content-type': 'application/json', 'accept-encoding': 'identity', 'user-agent': 'sluice' }
  const versioned = { auth: 'x-api-key', versionHeader: { name: 'anthropic-version', value: '2023-06-01' } }
  const plain = { auth: 'bearer', versionHeader: undefined }

  test.each<[string, Wire, object, Record<string, string>, Record<string, string>]>([
    [
      'the client’s version and betas',
      'messages',
      versioned,
      client,
      { 'x-api-key': 'secret', 'anthropic-version': '2027-01-01', 'anthropic-beta': 'tools-2027' },
    ],
    [
      'the client’s version and betas by the provider’s names',
      'messages',
      { auth: 'bearer', versionHeader: { name: 'vendorA-version', value: '2023-06-01' } },
      client,
      { authorization: 'Bearer secret', 'vendorA-version': '2027-01-01', 'vendorA-beta': 'tools-2027' },
    ],
    [
      'its own version where the client has none',
      'messages',
      versioned,
      { 'anthropic-version': '' },
      { 'x-api-key': 'secret', 'anthropic-version': '2023-06-01' },
    ],
    [
      'its own version where the client has one of another vendor',
      'responses',
      versioned,
      client,
      { 'x-api-key': 'secret', 'anthropic-version': '2023-06-01', 'openai-beta': 'assistants=v2' },
    ],
    [
      'the betas of the other vendor',
      'chat-completions',
      plain,
      client,
      { authorization: 'Bearer secret', 'openai-beta': 'assistants=v2' },
    ],
    ['nothing else', 'images', plain, client, { authorization: 'Bearer secret' }],
    ['its credential in the header it is asked for in', 'responses', { auth: 'api-key' }, {}, { 'api-key': 'secret' }],
    [
      'those that are set for the provider',
      'responses',
      { auth: 'bearer', headers: { 'x-project': 'p', 'user-agent': 'curl' } },
      client,
      { authorization: 'Bearer secret', 'openai-beta': 'assistants=v2', 'x-project': 'p', 'user-agent': 'curl' },
    ],
  ])('are the gateway’s own, and %s', async (_, wire, provider, headers, more) => {
    let seen: unknown
    const fetch: Relay['fetch'] = async (_, init) => {
      seen = init.headers
      return new Response()
    }
    const to = { ...target, wire, provider } as Target
    await send(
      { relay: { fetch } as Relay, target: to, abort: new AbortController() },
      { url: 'http://provider' },
      new Headers(headers),
    )
    expect(seen).toEqual({ ...always, ...more })
  })
})

describe('a test connection beside a silent call', () => {
  const NAMES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']
  const own = [...NAMES, 'NO_PROXY', 'no_proxy'].map((name) => [name, process.env[name]] as const)
  afterEach(() => {
    for (const [name, value] of own) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })

  const targetAt = (baseUrl: string, connectMs: number, proxy?: string | false) => {
    const timeouts = { connectMs, firstByteMs: 60_000, idleMs: 60_000, totalMs: 60_000 }
    return { ...target, provider: { ...target.provider, timeouts, proxy }, account: { baseUrl } } as Target
  }

  type Attempt = (options: Bun.TCPSocketConnectOptions<undefined>) => Promise<unknown>

  /** Where it connects to, and whether the provider counts as reachable then. */
  const tried = async (baseUrl: string, attempt: Attempt, proxy?: string | false) => {
    const connect = spyOn(Bun, 'connect').mockImplementation(attempt as unknown as typeof Bun.connect)
    const can = await canConnect(targetAt(baseUrl, 5, proxy))
    const at = connect.mock.calls.map(([options]) => options as unknown as { hostname: string; port: number })
    connect.mockRestore()
    return { at: at.map(({ hostname, port }) => `${hostname} ${port}`), can }
  }
  const never = () => new Promise(() => undefined)

  test.each([
    ['https://a.example', 'a.example 443'],
    ['http://a.example', 'a.example 80'],
    ['https://a.example:8443', 'a.example 8443'],
  ])('to %s goes to %s, and says no where nothing opens', async (url, at) => {
    for (const name of NAMES) delete process.env[name]
    expect(await tried(url, never)).toEqual({ at: [at], can: false })
  })

  test('serves all calls that wait for the same account', async () => {
    for (const name of NAMES) delete process.env[name]
    const connect = spyOn(Bun, 'connect').mockImplementation(never as unknown as typeof Bun.connect)
    const to = targetAt('https://a.example', 5)
    expect(await Promise.all([canConnect(to), canConnect(to)])).toEqual([false, false])
    expect(connect).toHaveBeenCalledTimes(1)
    await canConnect(to)
    expect(connect).toHaveBeenCalledTimes(2)
    connect.mockRestore()
  })

  test('that is refused leaves the call alone', async () => {
    for (const name of NAMES) delete process.env[name]
    expect((await tried('https://a.example', () => Promise.reject(new Error('refused')))).can).toBe(true)
  })

  test.each<[string, string, (socket: Bun.Socket) => void, boolean]>([
    ['no, where it is accepted and never secured', 'https', () => undefined, false],
    ['yes, where that is not asked', 'http', () => undefined, true],
    ['yes, where it is ended: the call is, too', 'https', (socket) => socket.end(), true],
    [
      'yes, where it is answered without TLS: the call is, too',
      'https',
      (socket) => socket.end('HTTP/1.1 400 No\r\n\r\n'),
      true,
    ],
  ])('says %s (%s)', async (_, scheme, accept, can) => {
    for (const name of NAMES) delete process.env[name]
    const socket = { open: accept, data: () => undefined }
    const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket })
    expect(await canConnect(targetAt(`${scheme}://127.0.0.1:${server.port}`, can ? 60_000 : 100))).toBe(can)
    server.stop(true)
  })

  test.each(NAMES)(
    'is not made where %s sends fetch through a proxy, and made where that is for another scheme',
    async (name) => {
      for (const each of NAMES) delete process.env[each]
      process.env[name] = 'http://proxy.example:3128'
      for (const scheme of ['http', 'https']) {
        const isMeant = [`${scheme}_proxy`, 'all_proxy'].includes(name.toLowerCase())
        const at = isMeant ? [] : [`a.example ${scheme === 'http' ? 80 : 443}`]
        expect(await tried(`${scheme}://a.example`, never)).toEqual({ at, can: isMeant })
      }
    },
  )

  test.each<[string | false | undefined, string, boolean]>([
    ['http://own.example:3128', '', false],
    ['http://own.example:3128', 'a.example', true],
    [false, '', true],
    [undefined, '', false],
  ])('goes by the provider’s own proxy (%p) with NO_PROXY=%s: made past it: %p', async (proxy, list, made) => {
    for (const each of NAMES) delete process.env[each]
    delete process.env.no_proxy
    process.env.NO_PROXY = list
    process.env.HTTPS_PROXY = 'http://proxy.example:3128'
    expect((await tried('https://a.example', never, proxy)).at).toHaveLength(made ? 1 : 0)
  })

  test.each([
    ['http://10.1.2.3:8000', 'b.example, 10.1.2.3', true],
    ['http://10.1.2.3:8000', '10.0.0.0/8', true],
    ['http://11.1.2.3:8000', '10.0.0.0/8', false],
    ['http://10.1.2.3:8000', '10.1.2.3:8000', true],
    ['http://10.1.2.3:8000', '10.1.2.3:80', false],
    ['https://a.Example', 'b.example EXAMPLE', true],
    ['https://a.example', '.example', true],
    ['https://a.example', '*.example', true],
    ['https://bad.example', 'd.example', false],
    ['https://a.example', 'b.example,*', true],
    ['https://a.example', '', false],
  ])('to %s with NO_PROXY=%s is made past the proxy: %p', async (url, list, made) => {
    for (const each of NAMES) delete process.env[each]
    process.env.ALL_PROXY = 'http://proxy.example:3128'
    delete process.env.no_proxy
    process.env.NO_PROXY = list
    expect((await tried(url, never)).at).toHaveLength(made ? 1 : 0)
  })
})
