// Providers that answer what no provider should: the client gets the contract's error or a whole answer, never their
// words, and the gateway is left as it was.

import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import type { ErrorCode } from '../../src/errors.ts'
import { gate, type Script, type Scripted, slices, startScripted } from '../support/provider/scripted.ts'
import { stopAfterAll } from '../support/stopping.ts'
import { type Attacked, openGateway, providersAt } from './support/gateway.ts'
import { eachRequest, startRaw } from './support/socket.ts'
import { CHAT, MESSAGES, SSE, STORIES, type Story, streamed, whole } from './support/stories.ts'

const SECRET = 'provider-words-that-must-not-leak'

let script: Script = {}
let provider: Scripted
let gateway: Attacked

beforeAll(async () => {
  provider = await startScripted(() => script)
  const origins = { a: [provider.origin], b: [provider.origin] }
  gateway = await openGateway({ providers: providersAt(origins, { first_byte: '5s', idle: '5s' }) })
})
afterEach(async () => {
  await gateway.quiet()
})
stopAfterAll(() => [gateway, provider])

const words = (story: Story, count: number): string => story.word('word ').repeat(count)
const expectBroken = (text: string): void => {
  const last = text.trimEnd().split('\n\n').at(-1) ?? ''
  expect(last).toStartWith('event: error\ndata: ')
  expect(JSON.parse(last.slice(last.indexOf('{'))).error.code).toBe('upstream_error')
  expect(text).not.toMatch(/\[DONE\]|message_stop|response\.completed/)
}
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const gzipped = (text: string): Script => ({ steps: [gzipSync(text)], headers: { 'content-encoding': 'gzip' } })

/** What the provider does to a request, with or without `stream`, and the error the client gets for it. */
const REFUSED: [string, boolean, (story: Story) => Script, ErrorCode][] = [
  [
    'redirects to a place that would answer',
    false,
    () => ({ status: 307, headers: { location: `${provider.origin}/v1/elsewhere/${SECRET}` } }),
    'upstream_error',
  ],
  [
    'sends an HTML page with 200',
    false,
    () => ({ headers: { 'content-type': 'text/html' }, steps: [`<html>${SECRET}</html>`] }),
    'upstream_error',
  ],
  [
    'sends an HTML page for a stream',
    true,
    () => ({ headers: { 'content-type': 'text/html' }, steps: [`<html>${SECRET}</html>`] }),
    'upstream_error',
  ],
  [
    'sends an error with 200',
    false,
    () => ({ steps: [JSON.stringify({ error: { message: SECRET, type: 'server_error' } })] }),
    'upstream_error',
  ],
  [
    'sends an error with 200 for a stream',
    true,
    () => ({ steps: [JSON.stringify({ type: 'error', error: { message: SECRET, type: 'api_error' } })] }),
    'upstream_error',
  ],
  [
    'sends half of its JSON',
    false,
    ({ answer }) => ({ steps: [JSON.stringify(answer).slice(0, 40)] }),
    'upstream_error',
  ],
  ['sends nothing for an answer', false, () => ({ steps: [] }), 'upstream_error'],
  ['sends nothing for a stream', true, () => ({ headers: SSE, steps: [] }), 'upstream_error'],
  ['sends a list for an answer', false, () => ({ steps: ['[1,2]'] }), 'upstream_error'],
  ['cuts the socket before its headers', false, () => ({ end: 'reset' }), 'upstream_error'],
  ['cuts the socket in the middle of an answer', false, () => ({ steps: ['{"id":'], end: 'cut' }), 'upstream_error'],
  [
    'cuts the socket before the first event',
    true,
    () => ({ headers: SSE, steps: [': hi\n\n'], end: 'cut' }),
    'upstream_error',
  ],
  ['sends bytes that are no gzip', false, () => ({ ...gzipped(''), steps: ['no gzip'] }), 'upstream_error'],
  ['sends an error of a megabyte', false, () => ({ status: 500, steps: [SECRET.repeat(30_000)] }), 'upstream_error'],
]

describe.each(STORIES.map((story) => [story.path, story] as const))('%s', (_, story) => {
  test.each(REFUSED)('a provider that %s (stream: %p) is an error of ours', async (_, stream, plays, code) => {
    script = plays(story)
    const before = provider.requests.length
    const response = await gateway.post(story.path, story.request(stream))
    const text = await response.text()
    expect([response.headers.get('x-gateway-error-code'), JSON.parse(text).error.code]).toEqual([code, code])
    expect(text + JSON.stringify([...response.headers])).not.toContain(SECRET)
    expect(provider.requests.slice(before).every(({ path }) => !path.includes('elsewhere'))).toBe(true)
  })

  test('compressed JSON is read, although it was not requested', async () => {
    script = gzipped(JSON.stringify(story.answer))
    const response = await gateway.post(story.path, story.request(false))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-encoding')).toBeNull()
    expect(await response.text()).toBe(JSON.stringify({ ...story.answer, model: story.model }))
  })

  test('a compressed stream is read, although it was not requested', async () => {
    const text = story.begin + words(story, 100) + story.end
    script = { steps: slices(gzipSync(text), 50), headers: { ...SSE, 'content-encoding': 'gzip' } }
    const response = await gateway.post(story.path, story.request(true))
    expect((await response.text()).split('word ')).toHaveLength(101)
  })

  test('a stream with another content type is read as a stream', async () => {
    script = { ...streamed(story), headers: { 'content-type': 'text/plain' } }
    const response = await gateway.post(story.path, story.request(true))
    expect(await response.text()).toContain('hello')
  })

  test('a stream whose socket is cut ends with an error frame', async () => {
    const heard = gate()
    script = { headers: SSE, steps: [story.begin, words(story, 3), heard], end: 'cut' }
    const response = await gateway.post(story.path, story.request(true))
    heard.open()
    expectBroken(await response.text())
  })

  test.each([
    ['a clean end', (): Script => ({ headers: SSE, steps: [story.begin, words(story, 3)] })],
    ['half a frame', (): Script => ({ headers: SSE, steps: [story.begin, words(story, 3), 'data: {"typ'] })],
    [
      'broken JSON',
      (): Script => ({ headers: SSE, steps: [story.begin, words(story, 1), 'data: {"typ\n\n', story.end] }),
    ],
    [
      'JSON that is no event',
      (): Script => ({ headers: SSE, steps: [story.begin, words(story, 1), 'data: 7\n\n', story.end] }),
    ],
  ])('a stream that goes on with %s ends with an error frame', async (_, plays) => {
    script = plays()
    const response = await gateway.post(story.path, story.request(true))
    expect(response.status).toBe(200)
    const text = await response.text()
    expectBroken(text)
  })

  test('a stream that is broken by what comes with its beginning has not begun for its client', async () => {
    script = { headers: SSE, steps: [`${story.begin}data: {"typ\n\n${story.end}`] }
    const response = await gateway.post(story.path, story.request(true))
    expect(response.status).toBe(502)
    expect(response.headers.get('x-gateway-error-code')).toBe('upstream_error')
  })

  test('what follows the terminal event of a stream is not waited for', async () => {
    script = { ...streamed(story), end: 'stall' }
    const response = await gateway.post(story.path, story.request(true))
    expect(await response.text()).toContain('hello')
    // Its connection is not kept for ever either.
    expect(await (await provider.arrived(provider.requests.length - 1)).closed).toBe('aborted')
  })

  test('one event of 50 MB arrives whole or is refused, and the server serves on', async () => {
    const size = 50 * 1024 * 1024
    const big = story.word('x'.repeat(size))
    script = { headers: SSE, steps: [story.begin, ...slices(bytes(big), 256 * 1024), story.end] }
    const response = await gateway.post(story.path, story.request(true))
    const text = await response.text()
    if (text.length > size) expect(text).toContain('x'.repeat(1_000))
    else expect(text).toContain('upstream_error')
    script = whole(story)
    expect((await gateway.post(story.path, story.request(false))).status).toBe(200)
  })
})

test('a compressed answer that expands without end is given up, not held in memory', async () => {
  const megabyte = 'x'.repeat(1024 * 1024)
  const bomb = gzipSync(`{"id":"${megabyte.repeat(400)}"}`)
  script = { steps: [bomb], headers: { 'content-encoding': 'gzip', 'content-length': String(bomb.length) } }
  const response = await gateway.post(CHAT.path, CHAT.request(false))
  expect(response.headers.get('x-gateway-error-code')).toBe('upstream_error')
})

test('an event without end is given up, not held in memory', async () => {
  const piece = bytes('x'.repeat(1024 * 1024))
  const endless = function* () {
    yield CHAT.begin + CHAT.word('Hello')
    yield 'data: "'
    for (let sent = 0; sent < 400; sent++) yield piece
  }
  script = { headers: SSE, steps: endless() }
  const response = await gateway.post(CHAT.path, CHAT.request(true))
  expect(await response.text()).toContain('event: error')
  expect(await (await provider.arrived(provider.requests.length - 1)).closed).toBe('aborted')
})

describe('sockets', () => {
  const head = (length: number): string =>
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
  const answer = JSON.stringify(MESSAGES.answer)

  test('headers that arrive a byte at a time are read', async () => {
    const raw = await startRaw((socket) => {
      socket.setNoDelay(true)
      eachRequest(socket, () => {
        const text = head(answer.length) + answer
        let at = 0
        const next = (): void => {
          socket.write(text.charAt(at++), () => at < text.length && setImmediate(next))
        }
        next()
      })
    })
    const own = await openGateway({ providers: providersAt({ a: [raw.origin] }) })
    const response = await own.post(MESSAGES.path, MESSAGES.request(false))
    expect([response.status, await response.json()]).toEqual([200, { ...MESSAGES.answer, model: MESSAGES.model }])
    await own.quiet()
    await own.stop()
    await raw.stop()
  })

  test('a pooled connection that the provider resets costs no request', async () => {
    // Each connection answers one request and dies at the second, as a provider does whose patience is short.
    const raw = await startRaw((socket) =>
      eachRequest(socket, (index) => {
        if (index > 0) socket.resetAndDestroy()
        else socket.write(head(answer.length) + answer)
      }),
    )
    const own = await openGateway({ providers: providersAt({ a: [raw.origin] }) })
    const statuses: number[] = []
    for (let asked = 0; asked < 10; asked++) {
      const response = await own.post(MESSAGES.path, MESSAGES.request(false))
      statuses.push(response.status)
      await response.text()
    }
    expect(statuses).toEqual(Array(10).fill(200))
    await own.quiet()
    await own.stop()
    await raw.stop()
  })

  test('several stale pooled connections cost no request', async () => {
    // As after a provider's restart: none of the connections that are kept answers a second request.
    const waiting: (() => void)[] = []
    const raw = await startRaw((socket, connection) =>
      eachRequest(socket, (index) => {
        if (index > 0) return socket.resetAndDestroy()
        waiting.push(() => socket.write(head(answer.length) + answer))
        if (waiting.length >= 4 || connection >= 4) for (const respond of waiting.splice(0)) respond()
      }),
    )
    const own = await openGateway({ providers: providersAt({ a: [raw.origin] }) })
    const ask = async (): Promise<number> => {
      const response = await own.post(MESSAGES.path, MESSAGES.request(false))
      await response.text()
      return response.status
    }
    expect(await Promise.all([ask(), ask(), ask(), ask()])).toEqual([200, 200, 200, 200])
    expect(await ask()).toBe(200)
    await own.quiet()
    await own.stop()
    await raw.stop()
  })

  test('a provider that speaks no HTTP is an error of ours', async () => {
    const raw = await startRaw((socket) => eachRequest(socket, () => socket.end(`${SECRET}\r\n\r\n`)))
    const own = await openGateway({ providers: providersAt({ a: [raw.origin] }) })
    const response = await own.post(MESSAGES.path, MESSAGES.request(false))
    expect(response.status).toBe(502)
    expect(await response.text()).not.toContain(SECRET)
    await own.quiet()
    await own.stop()
    await raw.stop()
  })
})
