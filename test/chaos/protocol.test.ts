// What HTTP allows and what it does not, as no client library would send it: each request is answered as what it is or
// cut, never taken for another, and the next one is served.

import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { stopAfterAll } from '../support/stopping.ts'
import { until } from '../support/until.ts'
import { type Attacked, openGateway, providersAt } from './support/gateway.ts'
import { connect, rawPost } from './support/socket.ts'
import { CHAT, streamed, whole } from './support/stories.ts'

let script: ((stream: boolean) => Script) | undefined
let provider: Scripted
let gateway: Attacked

const answering = (stream: boolean): Script => (stream ? streamed(CHAT) : whole(CHAT))

beforeAll(async () => {
  provider = await startScripted(({ text }) => (script ?? answering)(JSON.parse(text).stream === true))
  const providers = providersAt({ b: [provider.origin] })
  gateway = await openGateway({ providers, body_timeout: '2s', body_limit: '64KB' })
})
afterEach(async () => {
  script = undefined
  await gateway.quiet()
  expect((await gateway.post(CHAT.path, CHAT.request(false))).status).toBe(200)
})
stopAfterAll(() => [gateway, provider])

const BODY = JSON.stringify(CHAT.request(false))
const LENGTH = `Content-Length: ${BODY.length}`

/** A request by its first line, its lines in any form and its body. */
const request = (first: string, lines: string[], body = ''): string =>
  [first, ...lines.map((line) => line.replace('KEY', gateway.secret)), '', body].join('\r\n')
const post = (lines: string[], body = BODY, version = '1.1', target = CHAT.path): string =>
  request(`POST ${target} HTTP/${version}`, ['Authorization: Bearer KEY', ...lines], body)
const get = (target: string, lines: string[] = ['Host: gateway'], method = 'GET'): string =>
  request(`${method} ${target} HTTP/1.1`, ['Authorization: Bearer KEY', ...lines])

/** The first answer's head, once it is whole, or '' where the connection is closed without one. */
const headOf = async (bytes: string): Promise<string> => {
  const client = connect(gateway.url)
  client.socket.write(Buffer.from(bytes, 'latin1'))
  const heard = await client.hears('\r\n\r\n').catch(() => '')
  client.socket.destroy()
  return heard.slice(0, heard.indexOf('\r\n\r\n') + 2)
}

const outcome = async (bytes: string): Promise<(string | null)[]> => {
  const head = await headOf(bytes)
  const [, status = ''] = /^HTTP\/1\.1 (\d+) /.exec(head) ?? []
  const [, code = null] = /^x-gateway-error-code: (.*)\r$/im.exec(head) ?? []
  return code === null ? [status] : [status, code]
}

describe('a request in an unusual form is answered', () => {
  test.each<[string, () => string, string[]]>([
    ['of HTTP/1.0', () => post(['Host: gateway', LENGTH], BODY, '1.0'), ['200']],
    ['of HTTP/1.0 without a host', () => post([LENGTH], BODY, '1.0'), ['200']],
    ['with an empty host', () => post(['Host:', LENGTH]), ['200']],
    ['with a host that is none', () => post(['Host: [::1', LENGTH]), ['200']],
    ['with a path in its host', () => post(['Host: a/v1/messages?', LENGTH]), ['200']],
    ['with a port that is none', () => post(['Host: gateway:70000', LENGTH]), ['200']],
    ['for a whole URL', () => post(['Host: gateway', LENGTH], BODY, '1.1', `http://else${CHAT.path}`), ['200']],
    ['with a query', () => post(['Host: gateway', LENGTH], BODY, '1.1', `${CHAT.path}?beta=true`), ['200']],
    ['under a base with a slash', () => post(['Host: gateway', LENGTH], BODY, '1.1', `/${CHAT.path}`), ['200']],
    ['under a /v1 with a slash', () => get('/v1//models?limit=1'), ['200']],
    ['under a /v1 with a slash, doubled', () => get('/v1/v1//models/auto'), ['200']],
    ['with slashes in its query', () => get('/v1/models?at=//x'), ['200']],
    ['with a slash too many beside the API', () => get('//metrics'), ['404', 'not_found']],
    [
      'in chunks of a byte',
      () =>
        post(
          ['Host: gateway', 'Transfer-Encoding: chunked'],
          `${[...BODY].map((c) => `1\r\n${c}\r\n`).join('')}0\r\n\r\n`,
        ),
      ['200'],
    ],
    [
      'in chunks past the limit, for a host too short to be one',
      () => post(['Host: g', 'Transfer-Encoding: chunked'], `20000\r\n${'x'.repeat(0x20000)}\r\n0\r\n\r\n`),
      ['413', 'payload_too_large'],
    ],
    ['after the go-ahead it asks for', () => post(['Host: gateway', 'Expect: 100-continue', LENGTH]), ['100']],
    ['by HEAD', () => get('/v1', ['Host: gateway'], 'HEAD'), ['200']],
    ['by HEAD, with a wrong path', () => get('/nope', ['Host: gateway'], 'HEAD'), ['404', 'not_found']],
    ['by HEAD where POST is due', () => get('/v1/messages', ['Host: gateway'], 'HEAD'), ['405', 'method_not_allowed']],
    ['by OPTIONS', () => get('/v1/messages', ['Host: gateway'], 'OPTIONS'), ['405', 'method_not_allowed']],
    [
      'as a page of another site asks before it posts',
      () =>
        get(
          '/v1/messages',
          ['Host: gateway', 'Origin: http://x.test', 'Access-Control-Request-Method: POST'],
          'OPTIONS',
        ),
      ['405', 'method_not_allowed'],
    ],
    ['by TRACE', () => get('/v1', ['Host: gateway'], 'TRACE'), ['405', 'method_not_allowed']],
    ['by CONNECT', () => get('elsewhere.test:443', ['Host: gateway'], 'CONNECT'), ['404', 'not_found']],
    ['with a NUL in its path', () => get('/v1/%00messages'), ['404', 'not_found']],
    ['for a model named NUL', () => get('/v1/models/%00'), ['404', 'invalid_model']],
    ['for a model wrongly encoded', () => get('/v1/models/%zz'), ['404', 'invalid_model']],
    ['for a model in broken UTF-8', () => get('/v1/models/%ff'), ['404', 'invalid_model']],
    ['for an answer wrongly encoded', () => get('/v1/responses/%zz'), ['404', 'not_found']],
    ['for a model with a very long name', () => get(`/v1/models/${'x'.repeat(12_000)}`), ['404', 'invalid_model']],
    ['for a path above the root', () => get('/v1/../../v1/models'), ['200']],
    ['with a key of odd bytes', () => get('/v1/models', ['Host: gateway', 'X-Api-Key: \xff\x80']), ['200']],
    ['with a body where none is due', () => `${get('/v1', ['Host: gateway', 'Content-Length: 5'])}hello`, ['200']],
    ['with an offer of HTTP/2', () => get('/v1', ['Host: gateway', 'Connection: Upgrade', 'Upgrade: h2c']), ['200']],
  ])('%s', async (_, bytes, expected) => {
    expect(await outcome(bytes())).toEqual(expected)
  })
})

describe('an invalid HTTP request is refused, and reaches no provider', () => {
  const chunked = 'Transfer-Encoding: chunked'
  test.each<[string, () => string]>([
    ['two lengths that differ', () => post(['Host: gateway', LENGTH, 'Content-Length: 3'])],
    ['a length and chunks', () => post(['Host: gateway', 'Content-Length: 3', chunked], `3\r\n{"a\r\n0\r\n\r\n`)],
    ['a length below nothing', () => post(['Host: gateway', 'Content-Length: -5'])],
    ['a length that is no number', () => post(['Host: gateway', 'Content-Length: 5x'])],
    ['a length without end', () => post(['Host: gateway', 'Content-Length: 99999999999999999999'])],
    ['a coding besides chunks', () => post(['Host: gateway', 'Transfer-Encoding: gzip, chunked'], '0\r\n\r\n')],
    ['a chunk whose size is none', () => post(['Host: gateway', chunked], 'zz\r\n{}\r\n0\r\n\r\n')],
    ['no host', () => post([LENGTH])],
    ['a NUL in a header', () => get('/v1', ['Host: gateway', 'X-A: a\0b'])],
    ['a folded header', () => get('/v1', ['Host: gateway', 'X-A: a', ' b'])],
    ['a header of 70 KB', () => get('/v1', ['Host: gateway', `X-A: ${'x'.repeat(70_000)}`])],
    [
      'a thousand headers',
      () => get('/v1', ['Host: gateway', ...Array.from({ length: 1_000 }, (_, at) => `X-${at}: y`)]),
    ],
    ['a URL of 100 KB', () => get(`/v1/models/${'x'.repeat(100_000)}`)],
    ['a method nobody knows', () => get('/v1', ['Host: gateway'], 'BREW')],
    ['the beginning of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('%s', async (_, bytes) => {
    const before = provider.requests.length
    // Cut without a word, or told so and cut: either way nothing that follows can be taken for a request.
    expect(await headOf(bytes())).toMatch(/^(|HTTP\/1\.1 (400|431|505) .*\r\nConnection: close\r\n)$/)
    expect(provider.requests.length).toBe(before)
  })
})

test('requests one after another on one connection are all answered, whole and streamed', async () => {
  const client = connect(gateway.url)
  for (let at = 0; at < 6; at++) {
    const stream = at % 2 === 1
    const before = client.bytes
    client.write(rawPost(CHAT.path, gateway.secret, JSON.stringify(CHAT.request(stream))))
    await client.hears(`${stream ? '[DONE]\n\n\r\n0\r\n\r\n' : '"total_tokens":8}}'}`)
    expect(client.bytes).toBeGreaterThan(before)
    client.forget()
  }
  client.socket.destroy()
})

test('a second request that does not wait for the first answer ends both, and the provider call with them', async () => {
  script = () => ({ end: 'hang' })
  const first = provider.requests.length
  const client = connect(gateway.url)
  client.write(rawPost(CHAT.path, gateway.secret, BODY))
  const request = await provider.arrived(first)
  client.write(rawPost(CHAT.path, gateway.secret, BODY))
  expect(await client.closed).toBe('')
  expect(await request.closed).toBe('aborted')
  expect(provider.requests.length).toBe(first + 1)
})

test('a thousand half requests and trickling headers block nobody', async () => {
  const before = await gateway.figures()
  const half = Array.from({ length: 1_000 }, (_, at) => {
    const client = connect(gateway.url)
    client.write(`POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\n${at % 2 === 0 ? 'X-Half: ' : ''}`)
    return client
  })
  const trickle = async (client: (typeof half)[number]): Promise<void> => {
    for (const letter of 'trickling') {
      client.write(letter)
      await new Promise(setImmediate)
    }
  }
  const [statuses] = await Promise.all([
    Promise.all(
      Array.from({ length: 50 }, () => gateway.post(CHAT.path, CHAT.request(false)).then(({ status }) => status)),
    ),
    ...half.map(trickle),
  ])
  expect(statuses).toEqual(Array(50).fill(200))
  expect((await gateway.figures()).open).toBe(0)
  expect((await fetch(`${gateway.url}/v1`)).status).toBe(200)
  for (const { socket } of half) socket.destroy()
  await Promise.all(half.map(({ closed }) => closed))
  await until(async () => (await gateway.figures()).fds <= before.fds + 100)
})
