// Faults and figures on demand.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type DemoProviders, DIRECTIVES, MARKER, startDemoProviders } from '../../src/demo/index.ts'
import { until } from '../support/until.ts'
import { ask, at, type DemoPath, saying, send } from './support.ts'

let demo: DemoProviders
beforeAll(async () => {
  demo = await startDemoProviders()
})
afterAll(() => demo.stop())

const PATHS: DemoPath[] = ['/v1/messages', '/v1/chat/completions', '/v1/responses', '/v1/images/generations']
const STREAMED = PATHS.filter((path) => path !== '/v1/images/generations')
const said = (path: DemoPath, text: string, stream = false): Promise<Awaited<ReturnType<typeof ask>>> =>
  ask(demo, path, saying(path, `please ${text}`, stream ? { stream } : {}))

test('the guide of the demo tells every directive', async () => {
  const guide = await Bun.file(join(import.meta.dir, '..', '..', 'docs', 'guides', 'demo.md')).text()
  const told = [...guide.matchAll(/^\| `\[\[([a-z-]+)\]\]` +\| (.+?) +\|$/gm)].map(([, name, does]) => [name, does])
  expect(told).toEqual(Object.entries(DIRECTIVES))
})

/** What each vendor answers to an error asked for: status, type, code. */
const ERRORS: [argument: string, a: [number, string], b: [number, string, string | null]][] = [
  ['400', [400, 'invalid_request_error'], [400, 'invalid_request_error', 'invalid_value']],
  ['401', [401, 'authentication_error'], [401, 'invalid_request_error', 'invalid_api_key']],
  ['402', [402, 'billing_error'], [402, 'insufficient_quota', 'billing_hard_limit_reached']],
  ['403', [403, 'permission_error'], [403, 'request_forbidden', 'unsupported_country_region_territory']],
  ['404', [404, 'not_found_error'], [404, 'invalid_request_error', 'model_not_found']],
  ['413', [413, 'request_too_large'], [413, 'invalid_request_error', null]],
  ['429', [429, 'rate_limit_error'], [429, 'tokens', 'rate_limit_exceeded']],
  ['500', [500, 'api_error'], [500, 'server_error', null]],
  ['502', [502, 'api_error'], [502, 'server_error', null]],
  ['504', [504, 'timeout_error'], [504, 'server_error', null]],
  ['overloaded', [529, 'overloaded_error'], [503, 'service_unavailable_error', 'server_is_overloaded']],
  ['quota', [400, 'invalid_request_error'], [429, 'insufficient_quota', 'insufficient_quota']],
  ['context_length', [400, 'invalid_request_error'], [400, 'invalid_request_error', 'context_length_exceeded']],
  ['content_policy', [400, 'invalid_request_error'], [400, 'invalid_request_error', 'invalid_prompt']],
  // A name that no error has.
  ['constructor', [500, 'api_error'], [500, 'server_error', null]],
]

describe('an error asked for', () => {
  test.each(ERRORS)('[[error:%s]] is worded by each vendor in its own way', async (argument, a, b) => {
    const fromA = await said('/v1/messages', `[[error:${argument}]]`)
    expect([fromA.status, at(fromA.body, 'error', 'type')]).toEqual(a)
    const fromB = await said('/v1/chat/completions', `[[error:${argument}]]`)
    expect([fromB.status, at(fromB.body, 'error', 'type'), at(fromB.body, 'error', 'code')]).toEqual(b)
    for (const { text } of [fromA, fromB]) expect(text).toContain(MARKER)
    expect(fromA.headers.get('request-id')).toContain(MARKER)
    expect(fromB.headers.get('x-request-id')).toContain(MARKER)
  })

  test('the texts clients act on are the vendors’ own', async () => {
    expect((await said('/v1/messages', '[[error:context_length]]')).text).toMatch(
      /prompt is too long: \d+ tokens > \d+ maximum/,
    )
    expect((await said('/v1/messages', '[[error:429]]')).headers.get('retry-after')).toBe('7')
    expect((await said('/v1/images/generations', '[[error:content_policy]]')).text).toContain('moderation_blocked')
    expect((await said('/v1/responses', '[[error:404]]')).status).toBe(400)
  })

  test('happens so many times where a number is given, and at one vendor where one is named', async () => {
    const text = '[[error:500*2]]'
    const statuses: number[] = []
    for (let count = 0; count < 3; count++) statuses.push((await said('/v1/responses', text)).status)
    expect(statuses).toEqual([500, 500, 200])
    expect((await said('/v1/messages', '[[error:500@vendor_b]]')).status).toBe(200)
    expect((await said('/v1/responses', '[[error:500@vendor_b]]')).status).toBe(500)
  })

  test('is not repeated by the history of a conversation', async () => {
    const messages = [
      { role: 'user', content: '[[error:500]]' },
      { role: 'assistant', content: 'sorry' },
      { role: 'user', content: 'again' },
    ]
    expect((await ask(demo, '/v1/chat/completions', { model: 'm', messages })).status).toBe(200)
  })
})

describe('a broken stream', () => {
  const ends = {
    '/v1/messages': 'message_stop',
    '/v1/chat/completions': '[DONE]',
    '/v1/responses': 'response.completed',
  }
  const endOf = (path: DemoPath): string => (path === '/v1/images/generations' ? '' : ends[path])

  test.each(STREAMED)('%s: [[cut]] drops the connection in the middle', async (path) => {
    expect(
      await said(path, '[[cut]]', true).then(
        () => 'ended',
        () => 'cut',
      ),
    ).toBe('cut')
    expect(
      await said(path, '[[cut]]').then(
        () => 'ended',
        () => 'cut',
      ),
    ).toBe('cut')
  })

  test.each(STREAMED)('%s: [[eof]] ends cleanly without its last event', async (path) => {
    const { status, frames, text } = await said(path, '[[eof]]', true)
    expect([status, frames.length > 1, text.includes(endOf(path))]).toEqual([200, true, false])
    expect((await said(path, '[[eof]]')).body).toEqual({})
  })

  test.each(STREAMED)('%s: [[stream-error]] tells of the failure in the stream', async (path) => {
    for (const [argument, word] of [
      ['', 'overloaded'],
      [':server', 'server|api_error'],
    ]) {
      const { status, text } = await said(path, `[[stream-error${argument}]]`, true)
      expect(status).toBe(200)
      expect(text).toMatch(new RegExp(String(word)))
      expect(text).toContain(MARKER)
      expect(text).not.toContain(endOf(path))
    }
  })

  test('responses: a stream broken off ends with response.failed, numbered on', async () => {
    const { events } = await said('/v1/responses', '[[stream-error:rate_limit]]', true)
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed'])
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, place) => place))
    expect(at(events.at(-1), 'response', 'error', 'code')).toBe('rate_limit_exceeded')
  })

  test.each(STREAMED)('%s: [[malformed]] holds what is no JSON', async (path) => {
    const { frames } = await said(path, '[[malformed]]', true)
    const broken = frames.filter(({ data }) => data !== '[DONE]' && !data.trimEnd().endsWith('}'))
    expect(broken).toHaveLength(1)
    expect(() => JSON.parse(broken[0]?.data ?? '{}')).toThrow()
    expect((await said(path, '[[malformed]]')).body).toEqual({})
  })

  test.each(STREAMED)('%s: [[stall]] goes silent until the caller leaves', async (path) => {
    const leaving = new AbortController()
    const asked = saying(path, '[[stall:2]]', { stream: true })
    const answer = await send(demo, path, asked, { signal: leaving.signal })
    const reader = answer.body?.getReader()
    let text = ''
    while (text.split('\n\n').length < 3) {
      const { done, value } = (await reader?.read()) ?? { done: true }
      if (done) throw new Error(`ended with ${text}`)
      text += new TextDecoder().decode(value)
    }
    const entry = demo.requests.at(-1)
    expect(entry?.aborted).toBe(false)
    leaving.abort()
    expect(
      await reader?.read().then(
        () => 'more',
        () => 'left',
      ),
    ).toBe('left')
    await until(() => entry?.aborted !== false)
    expect(entry?.aborted).toBe(true)
  })
})

describe('other ways to fail', () => {
  test.each(PATHS)('%s: [[hang]] never answers and notices a caller that leaves', async (path) => {
    const leaving = new AbortController()
    const seen = demo.requests.length
    const call = send(demo, path, saying(path, '[[hang]]'), { signal: leaving.signal }).then(
      () => 'answered',
      () => 'left',
    )
    await until(() => demo.requests.length !== seen)
    leaving.abort()
    expect(await call).toBe('left')
    const entry = demo.requests[seen]
    await until(() => entry?.aborted !== false)
    expect(entry?.aborted).toBe(true)
  })

  test.each(PATHS)('%s: [[empty]], [[html]] and [[redirect]] answer what is no answer', async (path) => {
    const empty = await said(path, '[[empty]]')
    expect([empty.status, empty.text]).toEqual([200, ''])
    const html = await said(path, '[[html]]')
    expect([html.status, html.headers.get('content-type'), html.text.includes(MARKER)]).toEqual([
      502,
      'text/html',
      true,
    ])
    const redirect = await said(path, '[[redirect]]')
    expect([redirect.status, redirect.headers.get('location')?.includes(MARKER)]).toEqual([307, true])
  })

  test('[[slow]] and [[pace]] wait as long as they say', async () => {
    for (const text of ['[[slow:60]]', '[[pace:10]]']) {
      const begun = performance.now()
      expect((await said('/v1/messages', text, true)).status).toBe(200)
      expect(performance.now() - begun).toBeGreaterThan(55)
    }
  })
})

describe('figures on demand', () => {
  test('[[long:N]] answers with N words and counts them', async () => {
    const { body } = await said('/v1/messages', '[[long:123]]')
    expect(String(at(body, 'content', 0, 'text')).split(' ')).toHaveLength(123)
    expect(at(body, 'usage', 'output_tokens')).toBe(123)
  })

  test('[[usage:I,O]] reports these figures and [[no-usage]] none', async () => {
    expect(at((await said('/v1/messages', '[[usage:1000,77]]')).body, 'usage')).toMatchObject({
      input_tokens: 1000,
      output_tokens: 77,
    })
    const { body } = await said('/v1/chat/completions', '[[usage:1000,77]]')
    expect(at(body, 'usage')).toMatchObject({ prompt_tokens: 1000, completion_tokens: 77, total_tokens: 1077 })
    for (const path of PATHS.slice(0, 3)) {
      expect((await said(path, '[[no-usage]]')).text).not.toContain('_tokens":1')
      expect((await said(path, '[[no-usage]]', true)).text).not.toMatch(/"usage":\{/)
    }
  })

  test('[[redacted]] hides the reasoning of vendor_a', async () => {
    const asked = saying('/v1/messages', '[[redacted]]', { thinking: { type: 'adaptive' } })
    const { body } = await ask(demo, '/v1/messages', asked)
    expect(at(body, 'content', 0, 'type')).toBe('redacted_thinking')
  })

  test('every directive is described, and unknown ones are plain text', async () => {
    expect(Object.values(DIRECTIVES).every((meaning) => meaning.length > 10)).toBe(true)
    expect((await said('/v1/chat/completions', '[[nonsense:1]]')).text).toContain('[[nonsense:1]]')
  })
})
