// Providers that say nothing: the line is kept open in the client's own words, and given up in time.

import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { gate, type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { stopAfterAll } from '../support/stopping.ts'
import { type Attacked, openGateway, providersAt } from './support/gateway.ts'
import { CHAT, MESSAGES, RESPONSES, SSE, STORIES, type Story, streamed, whole } from './support/stories.ts'

let script: Script = {}
let provider: Scripted
/** Patient with providers, quick to reassure clients. */
let patient: Attacked
/** Without patience at all; with silence in the middle alone; with long streams alone. */
let strict: Attacked
let restless: Attacked
let brief: Attacked

beforeAll(async () => {
  provider = await startScripted(() => script)
  const origins = { a: [provider.origin], b: [provider.origin] }
  const long = { first_byte: '20s', idle: '20s' }
  patient = await openGateway({ providers: providersAt(origins, long), keep_alive: '50ms', early_start: '50ms' })
  const within = (timeouts: object): Promise<Attacked> =>
    openGateway({ providers: providersAt(origins, { ...long, ...timeouts }), keep_alive: '10s', early_start: '10s' })
  strict = await within({ first_byte: '150ms', idle: '150ms', total: '450ms' })
  restless = await within({ idle: '150ms' })
  brief = await within({ total: '2s' })
})
afterEach(async () => {
  for (const gateway of [patient, strict, restless, brief]) await gateway.quiet()
})
stopAfterAll(() => [patient, strict, restless, brief, provider])

const KEEP_ALIVE = new Map<Story, RegExp>([
  [CHAT, /^:[^\n]*$/],
  [RESPONSES, /^:[^\n]*$/],
  [MESSAGES, /^event: ping\ndata: \{"type": ?"ping"\}$/],
])

/** A frame, or a comment, which is a line. */
const PIECE = /^(?:(:[^\n]*)\n|((?:[^\n]+\n)+)\n)/

/** Reads frames and comments one by one. */
const reading = (response: Response) => {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  const next = async (): Promise<string | undefined> => {
    for (;;) {
      const [piece, comment, frame] = PIECE.exec(rest) ?? []
      if (piece !== undefined) {
        rest = rest.slice(piece.length)
        return comment ?? frame?.trimEnd()
      }
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
      if (done) return undefined
      rest += value
    }
  }
  const all = async (): Promise<string[]> => {
    const frames: string[] = []
    for (let frame = await next(); frame !== undefined; frame = await next()) frames.push(frame)
    return frames
  }
  return { next, all }
}

const codeOf = (frame: string | undefined): string =>
  frame?.startsWith('event: error\n') ? JSON.parse(frame.slice(frame.indexOf('{'))).error.code : `no error: ${frame}`

describe.each(STORIES.map((story) => [story.path, story] as const))('%s', (path, story) => {
  const isKeepAlive = (frame: string | undefined): boolean => KEEP_ALIVE.get(story)?.test(frame ?? '') === true

  test('a stream that pauses gets keep-alives that its clients ignore, and goes on', async () => {
    const pause = gate()
    script = streamed(story, story.word('before'), pause, story.word('after'))
    const frames = reading(await patient.post(path, story.request(true)))
    let frame = await frames.next()
    while (frame !== undefined && !frame.includes('before')) frame = await frames.next()
    for (let kept = 0; kept < 3; kept++) expect(isKeepAlive(await frames.next())).toBe(true)
    pause.open()
    const rest = (await frames.all()).filter((each) => !isKeepAlive(each))
    expect(rest[0]).toContain('after')
    expect(rest.join()).not.toContain('event: error')
  })

  test('a stream is begun before its provider has answered', async () => {
    const pause = gate()
    script = { ...streamed(story), steps: [pause, story.begin, story.word('late'), story.end] }
    const response = await patient.post(path, story.request(true))
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    const frames = reading(response)
    for (let kept = 0; kept < 2; kept++) expect(isKeepAlive(await frames.next())).toBe(true)
    pause.open()
    expect((await frames.all()).join()).toContain('late')
  })

  test('a failure after such a beginning is an error frame', async () => {
    const pause = gate()
    script = { ...streamed(story), steps: [pause], end: 'cut' }
    const frames = reading(await patient.post(path, story.request(true)))
    expect(isKeepAlive(await frames.next())).toBe(true)
    pause.open()
    expect(codeOf((await frames.all()).at(-1))).toBe('upstream_error')
  })

  test('a client that disconnects after such a beginning ends the provider call', async () => {
    script = { ...streamed(story), end: 'hang' }
    const leaving = new AbortController()
    const response = await patient.post(path, story.request(true), { signal: leaving.signal })
    await reading(response).next()
    const request = await provider.arrived(provider.requests.length - 1)
    leaving.abort()
    expect(await request.closed).toBe('aborted')
  })

  test('a provider that falls silent in the middle is cut with gateway_timeout', async () => {
    script = { headers: SSE, steps: [story.begin, story.word('hello')], end: 'stall' }
    const frames = await reading(await restless.post(path, story.request(true))).all()
    expect(codeOf(frames.at(-1))).toBe('gateway_timeout')
    expect(frames.at(-1)).toContain('fell silent')
    expect(await (await provider.arrived(provider.requests.length - 1)).closed).toBe('aborted')
  })

  test('a provider that never ends its stream is cut with gateway_timeout', async () => {
    const chatter = async function* () {
      yield story.begin
      for (;;) {
        yield story.word('and ')
        await Bun.sleep(50)
      }
    }
    script = { headers: SSE, steps: chatter() }
    const frames = await reading(await brief.post(path, story.request(true))).all()
    expect(codeOf(frames.at(-1))).toBe('gateway_timeout')
    expect(frames.at(-1)).toContain('did not finish')
    expect(await (await provider.arrived(provider.requests.length - 1)).closed).toBe('aborted')
  })

  test.each([
    ['no headers', false, (): Script => ({ end: 'hang' })],
    ['no headers for a stream', true, (): Script => ({ end: 'hang' })],
    ['headers alone', false, (): Script => ({ end: 'stall' })],
    ['headers alone for a stream', true, (): Script => ({ headers: SSE, end: 'stall' })],
    ['half an answer', false, (): Script => ({ steps: ['{"id":'], end: 'stall' })],
  ])('a provider that gives %s is a 504', async (_, stream, plays) => {
    script = plays()
    const response = await strict.post(path, story.request(stream))
    expect([response.status, response.headers.get('x-gateway-error-code')]).toEqual([504, 'gateway_timeout'])
    expect(await (await provider.arrived(provider.requests.length - 1)).closed).toBe('aborted')
  })
})

test('an early start still moves to another provider when the first one fails', async () => {
  const pause = gate()
  const first = await startScripted(() => ({ headers: SSE, steps: [pause], end: 'cut' }))
  const second = await startScripted(() => streamed(RESPONSES))
  const own = await openGateway({
    providers: providersAt({ a: [first.origin], b: [second.origin] }, { first_byte: '20s' }),
    fallbacks: { 'vendorA-opus-4-8': ['vendorB-5.5'] },
    keep_alive: '100ms',
    early_start: '100ms',
  })
  const response = await own.post(MESSAGES.path, MESSAGES.request(true))
  expect(response.status).toBe(200)
  const frames = reading(response)
  expect(await frames.next()).toContain('ping')
  pause.open()
  const text = (await frames.all()).join('\n')
  expect(text).toContain('hello')
  expect(text).toContain('message_stop')
  await own.quiet()
  await own.stop()
  await Promise.all([first.stop(), second.stop()])
})

test.each([
  ['refuses the connection', () => 'http://127.0.0.1:1', 'ECONNREFUSED'],
  ['speaks no TLS', (plain: Scripted) => plain.origin.replace('http', 'https'), 'EPROTO'],
])('a provider that %s is distinguishable in the record of the exchange', async (_, origin, code) => {
  const plain = await startScripted(() => whole(CHAT))
  const own = await openGateway({ providers: providersAt({ b: [origin(plain)] }) })
  const response = await own.post(CHAT.path, CHAT.request(false))
  expect([response.status, await response.json()]).toMatchObject([502, { error: { code: 'upstream_error' } }])
  const [row] = (await own.server?.gateway.store.exchanges({ limit: 1 })) ?? []
  if (own.server !== undefined) expect(row?.trail?.[0]?.providerCode).toBe(code)
  await own.quiet()
  await own.stop()
  await plain.stop()
})

test('a provider that is reachable but silent for longer than the connect timeout is not given up', async () => {
  const pause = gate()
  const slow = await startScripted(() => ({ ...whole(CHAT), steps: [pause, JSON.stringify(CHAT.answer)] }))
  const own = await openGateway({
    providers: providersAt({ b: [slow.origin] }, { connect: '1s', first_byte: '20s' }),
  })
  const answer = own.post(CHAT.path, CHAT.request(false))
  await slow.arrived(0)
  await Bun.sleep(1_500)
  pause.open()
  expect((await answer).status).toBe(200)
  await own.quiet()
  await own.stop()
  await slow.stop()
})
