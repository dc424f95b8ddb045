// What fetch throws, as an error of ours: what is sent once more, what is told of whom, and who is not to blame.

import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import { GatewayError } from '../../src/errors.ts'
import type { Wire } from '../../src/ir/wire.ts'
import type { Relay } from '../../src/relay/exchange.ts'
import type { Target } from '../../src/relay/route.ts'
import { networkError, probe, send } from '../../src/relay/upstream.ts'

const target = {
  ...{ wire: 'messages', provider: { auth: 'bearer', versionHeader: undefined } },
  account: { credential: 'secret' },
} as Target

const thrown = (code: string | undefined): Error => Object.assign(new Error('no'), code === undefined ? {} : { code })

let now: ReturnType<typeof spyOn> | undefined
afterEach(() => now?.mockRestore())

/** How often a request is sent whose first connection breaks so, after so long; and over what connections. */
const sent = async (code: string | undefined, { afterMs = 0, left = false } = {}) => {
  let time = 1_000
  now = spyOn(performance, 'now').mockImplementation(() => time)
  const abort = new AbortController()
  const calls: (boolean | undefined)[] = []
  const fetch: Relay['fetch'] = async (_, init) => {
    calls.push(init.keepalive)
    if (calls.length > 1) return new Response('answer')
    time += afterMs
    if (left) abort.abort()
    throw thrown(code)
  }
  const outcome = await send({ fetch } as Relay, target, { url: 'http://provider' }, new Headers(), abort).then(
    (response) => response.text(),
    (error: GatewayError) => error.code,
  )
  return { calls, outcome }
}

describe('a request', () => {
  test.each(['ECONNRESET', 'ConnectionClosed', 'EPIPE'])(
    'whose connection was dead already (%s) goes out once more, over one of its own',
    async (code) => {
      expect(await sent(code)).toEqual({ calls: [undefined, false], outcome: 'answer' })
    },
  )

  test.each<[string, string | undefined, { afterMs?: number; left?: boolean }]>([
    ['may have been at work on', 'ECONNRESET', { afterMs: 500 }],
    ['cannot be reached for', 'ConnectionRefused', {}],
    ['breaks off for a reason nobody knows', undefined, {}],
    ['does not answer while its client leaves', 'ECONNRESET', { left: true }],
  ])('that its provider %s goes out once', async (_, code, how) => {
    expect(await sent(code, how)).toEqual({ calls: [undefined], outcome: 'upstream_error' })
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

  test('is what it was ended for, where that is known', () => {
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
  ])('are the gateway’s, and %s', async (_, wire, provider, headers, more) => {
    let seen: unknown
    const fetch: Relay['fetch'] = async (_, init) => {
      seen = init.headers
      return new Response()
    }
    const to = { ...target, wire, provider } as Target
    await send({ fetch } as Relay, to, { url: 'http://provider' }, new Headers(headers), new AbortController())
    expect(seen).toEqual({ ...always, ...more })
  })
})

describe('a knock at a silent provider', () => {
  const NAMES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']
  const own = NAMES.map((name) => [name, process.env[name]] as const)
  afterEach(() => {
    for (const [name, value] of own) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })

  /** Where it knocks, and why the call is ended then. */
  const knock = async (baseUrl: string, opened: () => Promise<unknown>) => {
    const connect = spyOn(Bun, 'connect').mockImplementation(opened as unknown as typeof Bun.connect)
    const abort = new AbortController()
    const timeouts = { connectMs: 5, firstByteMs: 60_000, idleMs: 60_000, totalMs: 60_000 }
    const to = { ...target, provider: { ...target.provider, timeouts }, account: { baseUrl } } as Target
    await probe(to, abort)
    const at = connect.mock.calls.map(([options]) => options as unknown as { hostname: string; port: number })
    connect.mockRestore()
    return { at: at.map(({ hostname, port }) => `${hostname} ${port}`), why: abort.signal.reason?.code }
  }
  const never = () => new Promise(() => undefined)

  test.each([
    ['https://a.example', 'a.example 443'],
    ['http://a.example', 'a.example 80'],
    ['https://a.example:8443', 'a.example 8443'],
  ])('of %s goes to %s, and ends the call where nothing opens', async (url, at) => {
    for (const name of NAMES) delete process.env[name]
    expect(await knock(url, never)).toEqual({ at: [at], why: 'gateway_timeout' })
  })

  test.each<[string, () => Promise<unknown>]>([
    ['opens', () => Promise.resolve()],
    ['is refused', () => Promise.reject(new Error('refused'))],
  ])('that %s ends nothing', async (_, opened) => {
    for (const name of NAMES) delete process.env[name]
    expect((await knock('https://a.example', opened)).why).toBeUndefined()
  })

  test.each(NAMES)('is not made where %s has fetch go another way', async (name) => {
    for (const each of NAMES) delete process.env[each]
    process.env[name] = 'http://proxy.example:3128'
    expect(await knock('https://a.example', never)).toEqual({ at: [], why: undefined })
  })
})
