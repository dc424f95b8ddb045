// What a provider's refusal says beside its body: when to come again, and by what id the provider knows it.

import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import type { GatewayError } from '../../src/errors.ts'
import { call } from '../../src/relay/call.ts'
import type { Relay } from '../../src/relay/services.ts'
import type { Target } from '../../src/relay/target.ts'
import type { PassCodec } from '../../src/wire/codec.ts'
import { CODECS } from '../../src/wire/index.ts'

const NOW = Date.UTC(2026, 8, 1, 12)
let clock: ReturnType<typeof spyOn> | undefined
afterEach(() => clock?.mockRestore())

const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 60_000 }
const target = {
  ...{ wire: 'messages', provider: { auth: 'bearer', versionHeader: undefined, timeouts } },
  account: { credential: 'secret' },
} as Target

/** The error that a refusal with these headers is. */
const refused = async (
  headers: Record<string, string>,
  status = 529,
  codec: PassCodec = CODECS.messages,
  text = '{}',
): Promise<GatewayError> => {
  clock = spyOn(Date, 'now').mockReturnValue(NOW)
  const fetch: Relay['fetch'] = async () => new Response(text, { status, headers })
  const request = { headers: new Headers(), begunAt: performance.now() }
  const asked = { relay: { fetch } as Relay, request, target, codec, abort: new AbortController() }
  return call(asked, { url: 'http://provider' }, async () => undefined).then(
    () => {
      throw new Error('it was answered')
    },
    (error) => error,
  )
}

describe('the Retry-After of a provider', () => {
  const at = (ms: number): string => new Date(NOW + ms).toUTCString()
  const since = (ms: number): string => String((NOW + ms) / 1000)
  test.each<[string, Record<string, string>, number]>([
    ['seconds', { 'retry-after': '30' }, 30_000],
    ['a part of one', { 'retry-after': '1.5' }, 1_500],
    ['a date', { 'retry-after': at(20_000) }, 20_000],
    ['a date that is over', { 'retry-after': at(-20_000) }, 0],
    ['a time in seconds since the epoch', { 'retry-after': since(20_000) }, 20_000],
    ['such a time that is over', { 'retry-after': since(-20_000) }, 0],
    ['milliseconds, whatever seconds say', { 'retry-after-ms': '1500', 'retry-after': '30' }, 1_500],
    ['milliseconds below none', { 'retry-after-ms': '-5' }, 0],
    ['seconds where milliseconds say nothing', { 'retry-after-ms': 'soon', 'retry-after': '30' }, 30_000],
    ['more than a day', { 'retry-after': '999999999999' }, 86_400_000],
    ['more milliseconds than a day has', { 'retry-after-ms': '1e300' }, 86_400_000],
  ])('is read from %s', async (_, headers, ms) => {
    expect((await refused(headers)).retryAfterMs).toBe(ms)
  })

  test.each(['', 'soon', '30 s'])('is the gateway’s own default where the provider sends %p', async (value) => {
    expect((await refused({ 'retry-after': value })).retryAfterMs).toBe((await refused({})).retryAfterMs)
  })
})

test.each([201, 202, 203])('a status of success is an answer: %p', async (status) => {
  const fetch: Relay['fetch'] = async () => new Response('{}', { status })
  const request = { headers: new Headers(), begunAt: performance.now() }
  const asked = { relay: { fetch } as Relay, request, target, codec: CODECS.messages, abort: new AbortController() }
  expect(await call(asked, { url: 'http://provider' }, (response) => response.text())).toBe('{}')
})

describe('a test of the connection', () => {
  const connectMs = 5
  const connecting = Promise.withResolvers<void>()
  let connect: ReturnType<typeof spyOn>
  beforeEach(() => {
    connect = spyOn(Bun, 'connect').mockImplementation((() => {
      connecting.resolve()
      return new Promise(() => undefined)
    }) as unknown as typeof Bun.connect)
  })
  afterEach(() => connect.mockRestore())

  /** Whether the call has been cut off, long after connecting may have taken. */
  const isCut = (fetch: Relay['fetch']): Promise<unknown> => {
    const slow = { ...target, account: { ...target.account, baseUrl: 'http://provider' } } as Target
    slow.provider = { ...slow.provider, timeouts: { ...timeouts, connectMs } }
    const abort = new AbortController()
    const request = { headers: new Headers(), begunAt: performance.now() }
    const calling = { relay: { fetch } as Relay, request, target: slow, codec: CODECS.messages, abort }
    const read = () => new Promise((resolve) => setTimeout(() => resolve(abort.signal.aborted), 10 * connectMs))
    return call(calling, { url: 'http://provider' }, read)
  }

  test('that is still running does not cut an answer off', async () => {
    const answered = async (): Promise<Response> => {
      await connecting.promise
      return new Response()
    }
    expect(await isCut(answered)).toBe(false)
  })

  test('is not made where the provider has answered and says nothing yet', async () => {
    expect(await isCut(async () => new Response())).toBe(false)
    expect(connect).not.toHaveBeenCalled()
  })
})

const TOLD = '{"type":"error","error":{"type":"overloaded_error"},"request_id":"req_3"}'

test.each([
  [{ 'request-id': 'req_1', 'x-request-id': 'req_2' }, TOLD, 'req_1'],
  [{ 'x-request-id': 'req_2' }, TOLD, 'req_2'],
  [{}, TOLD, 'req_3'],
  [{}, '{}', undefined],
])('an error response with %p and %s is recorded with the request id %p', async (headers, text, requestId) => {
  for (const codec of [CODECS.messages, CODECS.responses]) {
    const { provider } = await refused(headers, 529, codec, text)
    expect(provider).toMatchObject({ status: 529, ...(requestId && { requestId }) })
    expect(provider?.requestId).toBe(requestId)
  }
})

test.each(['data:%', 'data: %\n\n', 'id:1\nevent:error\n:HTTP_STATUS/400\ndata:%\n\n', '%'])(
  'the error of a request for a stream is read from a body of the form %j',
  async (form) => {
    const text = form.replace('%', '{"error":{"message":"Moderation Block","type":"content_filter"}}')
    const { code } = await refused({}, 400, CODECS['chat-completions'], text)
    expect(code).toBe('content_policy_violation')
  },
)

test('a refusal whose body does not end is told by its status, long before an answer would be due', async () => {
  const { setTimeout: later } = globalThis
  const waits: unknown[] = []
  const timer = spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms: number) => {
    waits.push(ms)
    return later(run, 1)
  }) as typeof setTimeout)
  const fetch: Relay['fetch'] = async (_, init) => {
    const start = (to: ReadableStreamDefaultController<Uint8Array>): void => {
      to.enqueue(Buffer.from('{"type":"error","error":{"mess'))
      init?.signal?.addEventListener('abort', () => to.error(init.signal?.reason))
    }
    return new Response(new ReadableStream({ start }), { status: 529 })
  }
  const request = { headers: new Headers(), begunAt: performance.now() }
  const asked = { relay: { fetch } as Relay, request, target, codec: CODECS.messages, abort: new AbortController() }
  const error = await call(asked, { url: 'http://provider' }, async () => undefined).catch((refused) => refused)
  timer.mockRestore()
  expect(error.code).toBe('service_unavailable')
  expect(Math.min(...waits.map(Number))).toBeLessThanOrEqual(5_000)
})
