// The log at info level after everything that can go wrong: each request has its line, and no line has a secret, a
// prompt or a provider's words.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { type Attacked, openGateway, providersAt } from './support/gateway.ts'
import { connect, rawPost } from './support/socket.ts'
import { SSE, STORIES, type Story } from './support/stories.ts'

const WORDS = 'words of a provider'
const PROMPT = 'words of a client'
const CREDENTIAL = 'credential-of-an-account'

let script: Script = {}
let provider: Scripted
let gateway: Attacked
let asked = 0

beforeAll(async () => {
  provider = await startScripted(() => script)
  const providers = providersAt({ a: [provider.origin], b: [provider.origin] }, { first_byte: '300ms', idle: '300ms' })
  for (const { accounts } of Object.values(providers)) {
    for (const account of accounts) Object.assign(account, { credential: CREDENTIAL })
  }
  gateway = await openGateway({ providers, log: { level: 'info' }, early_start: '10s' }, { apart: true })
})
afterAll(() => provider.stop())

const failure = (status: number, more: object): Script => ({
  status,
  headers: { 'x-request-id': WORDS, 'request-id': WORDS, 'retry-after': '0', 'x-words': WORDS },
  steps: [JSON.stringify({ type: 'error', error: { message: WORDS, ...more } })],
})

const FAULTS: [string, (story: Story) => Script][] = [
  ['500', () => failure(500, { type: 'server_error' })],
  ['500 with words for a code', () => failure(500, { type: WORDS, code: WORDS, param: WORDS })],
  ['400', () => failure(400, { type: 'invalid_request_error', code: WORDS })],
  ['401', () => failure(401, { type: 'authentication_error', message: `${WORDS}: ${CREDENTIAL}` })],
  [
    '401 and what it was let in by for a code',
    () => ({
      ...failure(401, { type: CREDENTIAL, code: CREDENTIAL }),
      headers: { 'x-request-id': CREDENTIAL, 'request-id': CREDENTIAL },
    }),
  ],
  ['413', () => failure(413, { type: 'request_too_large' })],
  ['429', () => failure(429, { type: 'rate_limit_error', code: WORDS })],
  ['an error with 200', () => failure(200, { type: WORDS, code: WORDS })],
  ['a page', () => ({ headers: { 'content-type': 'text/html' }, steps: [`<html>${WORDS}</html>`] })],
  ['a page with 502', () => ({ status: 502, headers: { 'content-type': 'text/html' }, steps: [WORDS.repeat(9_999)] })],
  ['a redirect', () => ({ status: 307, headers: { location: `/${WORDS.replaceAll(' ', '-')}` } })],
  ['half an answer', ({ answer }) => ({ steps: [JSON.stringify(answer).replace('hello', WORDS).slice(0, -9)] })],
  ['no JSON', () => ({ steps: [WORDS] })],
  ['a cut', ({ begin, word }) => ({ headers: SSE, steps: [begin, word(WORDS)], end: 'cut' })],
  ['an end too soon', ({ begin, word }) => ({ headers: SSE, steps: [begin, word(WORDS)] })],
  ['a silence', ({ begin, word }) => ({ headers: SSE, steps: [begin, word(WORDS)], end: 'stall' })],
  ['no JSON in a stream', ({ begin, word }) => ({ headers: SSE, steps: [begin, word('x'), `data: ${WORDS}\n\n`] })],
  [
    'an error in a stream',
    ({ begin, word }) => ({
      headers: SSE,
      steps: [begin, word('x'), `event: error\ndata: {"error":{"message":"${WORDS}","code":"${WORDS}"}}\n\n`],
    }),
  ],
  [
    'an event nobody knows',
    ({ begin, end }) => ({ headers: SSE, steps: [begin, `event: ${WORDS}\ndata: {"type":"${WORDS}"}\n\n`, end] }),
  ],
  ['a reset', () => ({ end: 'reset' })],
  ['nothing', () => ({ end: 'hang' })],
]

/** The story's request with a prompt to look for, for its own wire's vendor or for the other's. */
const requestOf = (story: Story, stream: boolean, model: string): string =>
  JSON.stringify({ ...story.request(stream), model }).replace('"hi"', JSON.stringify(PROMPT))

/** Where prompts are counted, below a wire's path. */
const COUNTS: Record<string, string> = { '/v1/messages': '/count_tokens', '/v1/responses': '/input_tokens' }

describe.each(STORIES.map((story) => [story.path, story] as const))('%s', (path, story) => {
  test.each(FAULTS)('a provider that answers with %s', async (_, plays) => {
    for (const stream of [false, true]) {
      for (const model of ['vendorA-opus-4-8', 'vendorB-5.5']) {
        script = plays(story)
        asked++
        const response = await gateway.post(path, requestOf(story, stream, model))
        await response.text()
      }
    }
  })

  test.each(FAULTS)('a token count from a provider that answers with %s', async (_, plays) => {
    const counts = COUNTS[path]
    if (counts === undefined) return
    for (const model of ['vendorA-opus-4-8', 'vendorB-5.5']) {
      script = plays(story)
      asked++
      await (await gateway.post(path + counts, requestOf(story, false, model))).text()
    }
  })

  test.each<[string, (body: string) => string]>([
    ['broken JSON', (body) => body.slice(0, -5)],
    ['a member of the wrong kind', (body) => body.replace(/"(messages|input)":.*/, `"$1":{"${PROMPT}":"${PROMPT}"}}`)],
    ['an unknown model', (body) => body.replace(/"model":"[^"]*"/, `"model":"${PROMPT}"`)],
  ])('a request with %s', async (_, broken) => {
    asked++
    const response = await gateway.post(path, broken(requestOf(story, false, story.model)))
    expect(response.status).toBeGreaterThanOrEqual(400)
    await response.text()
  })

  test('an invalid key', async () => {
    asked++
    const headers = { authorization: `Bearer ${CREDENTIAL}`, 'x-api-key': CREDENTIAL }
    const response = await gateway.post(path, requestOf(story, false, story.model), { headers })
    expect(response.status).toBe(401)
    await response.text()
  })

  test('a client that disconnects', async () => {
    const gone = async (client: { socket: Socket; closed: Promise<string> }): Promise<void> => {
      client.socket.resetAndDestroy()
      await client.closed
      await gateway.quiet()
    }
    for (const end of ['hang', 'stall'] as const) {
      script = { headers: SSE, steps: [story.begin, story.word(WORDS)], end }
      asked++
      const before = provider.requests.length
      const client = connect(gateway.url)
      client.write(rawPost(path, gateway.secret, requestOf(story, true, story.model)))
      await provider.arrived(before)
      await gone(client)
    }
  })
})

test('every request has a log line, and none contains a prompt, an answer or a secret', async () => {
  await gateway.stop()
  const text = (await gateway.child?.err) ?? ''
  const lines = text.split('\n').filter((line) => line.startsWith('{'))
  const records = lines.map(
    (line) => JSON.parse(line) as { msg: string; level: number; request?: string; key?: string },
  )
  const answered = records.filter(({ msg }) => ['exchange', 'count', 'refused'].includes(msg))
  expect(answered).toHaveLength(asked)
  // Under one name, whatever became of it.
  expect(answered.filter(({ request }) => !request?.startsWith('req_'))).toEqual([])
  const names = new Set<string>()
  const noted = (name: string, value: unknown): unknown => {
    names.add(name)
    return value
  }
  for (const line of lines) JSON.parse(line, noted)
  expect([...names].filter((name) => !/^(?:[a-z0-9_]*)$/.test(name))).toEqual([])
  // Nothing went wrong in the gateway itself.
  expect(records.filter(({ level, msg }) => level > 30 && !msg.startsWith('breaker '))).toEqual([])
  for (const words of [WORDS, WORDS.replaceAll(' ', '-'), PROMPT, CREDENTIAL, gateway.secret]) {
    expect(text.includes(words) ? text.slice(0, text.indexOf(words)).split('\n').length : words).toBe(words)
  }
})
