// Requests as Vertex AI takes them, with a token of Google's.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { BUILTIN_MODELS } from '../../../src/catalogue/builtin.ts'
import type { Model } from '../../../src/catalogue/model.ts'
import { authorized, forVertex } from '../../../src/relay/adapt/vertex.ts'
import { GOOGLE_TOKEN, type Google, startGoogle } from '../../support/provider/google.ts'

let google: Google
beforeAll(() => {
  google = startGoogle()
})
afterAll(() => google.stop())

const [builtin] = BUILTIN_MODELS
if (builtin === undefined) throw new Error('no model')
const model: Model = { ...builtin, upstream: 'claude-haiku-4-5@20251001' }
const BASE = 'https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/anthropic'

const sent = (path: string, body: string) => forVertex({ model }, { url: `${BASE}${path}`, body })

test.each([
  ['{"model":"m","max_tokens":5}', 'rawPredict', '{"max_tokens":5,"anthropic_version":"vertex-2023-10-16"}'],
  ['{"stream":true, "model":"m"}', 'streamRawPredict', '{"stream":true,"anthropic_version":"vertex-2023-10-16"}'],
  ['{"model":"m","stream":false}', 'rawPredict', '{"stream":false,"anthropic_version":"vertex-2023-10-16"}'],
])('%s goes by %s, its model in the path and its version in the body', (body, method, made) => {
  const { url, body: text } = sent('/v1/messages', body)
  expect(url).toBe(`${BASE}/models/claude-haiku-4-5%4020251001:${method}`)
  expect(JSON.parse(`${text}`)).toEqual(JSON.parse(made))
})

test('the other bytes stay as they are', () => {
  const body = '{"model":"m","n":12345678901234567890,"t":"\\u00e9  "}'
  expect(`${sent('/v1/messages', body).body}`).toContain('"n":12345678901234567890,"t":"\\u00e9  "')
  const bytes = new TextEncoder().encode('{"model":"m","t":"សួស្តី"}')
  expect(`${forVertex({ model }, { url: `${BASE}/v1/messages`, body: bytes }).body}`).toContain('"t":"សួស្តី"')
})

test('a count keeps its model in the body', () => {
  const { url, body } = sent('/v1/messages/count_tokens', '{"model":"claude-x"}')
  expect(url).toBe(`${BASE}/models/count-tokens:rawPredict`)
  expect(JSON.parse(`${body}`)).toEqual({ model: 'claude-x', anthropic_version: 'vertex-2023-10-16' })
})

test('the token is asked for once, and takes the place of a version header', async () => {
  const headers = { 'anthropic-version': '2023-06-01', 'content-type': 'application/json' }
  const [first, second] = [await authorized(headers), await authorized(headers)]
  expect(first).toEqual({ 'content-type': 'application/json', authorization: `Bearer ${GOOGLE_TOKEN}` })
  expect(second).toEqual(first)
  // None where another test of the same process has asked before.
  expect(google.asked).toBeLessThanOrEqual(1)
})
