// What an account is found to say when it is asked, in the operator's words.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import type { Model } from '../../src/catalogue/model.ts'
import { presetModels } from '../../src/config/preset-models.ts'
import { presetBase } from '../../src/config/presets.ts'
import { GatewayError } from '../../src/errors.ts'
import { presetNamed } from '../../src/provider/presets/index.ts'
import type { Account, Provider } from '../../src/provider/provider.ts'
import { askAccount, listOf } from '../../src/relay/asking.ts'
import { verdictOf } from '../../src/relay/verdict.ts'
import { freePort } from '../support/free-port.ts'
import { type RealVendors, startRealVendors, VENDOR_KEYS } from '../support/provider/real-vendors.ts'

const URL_OF = 'https://vendor.example/v1/chat/completions'
const SECRET = 'words of the vendor'
const json = (status: number, body: unknown) => ({
  ...{ status, type: 'application/json', location: null },
  text: JSON.stringify(body),
})
const error = (members: object) => ({ error: { message: SECRET, ...members } })
const said = (answer: Parameters<typeof verdictOf>[0], list?: string[], upstream = 'model-a') =>
  verdictOf(answer, { url: URL_OF, upstream, list, isAnswer: (body) => JSON.stringify(body).includes('choices') })
const network = (code: string, kind: 'gateway_timeout' | 'upstream_error' = 'upstream_error') => ({
  error: new GatewayError(kind, 'x'),
  cause: code,
})

describe('an answer means', () => {
  test.each([
    ['answers', json(200, { choices: [] }), 'answers'],
    ['not-the-vendor', json(200, { hello: 1 }), 'no answer of this wire'],
    ['credential-refused', json(401, error({ code: 'invalid_api_key' })), 'refuses the credential'],
    ['credential-refused', json(400, error({ code: 'API_KEY_INVALID' })), 'refuses the credential'],
    ['not-permitted', json(403, error({ type: 'permission_error' })), 'does not permit'],
    ['no-credit', json(402, {}), 'no credit'],
    ['no-credit', json(429, error({ code: 'insufficient_quota' })), 'no credit'],
    ['no-credit', json(400, { error: { message: 'Your credit balance is too low to access it' } }), 'no credit'],
    ['busy', json(429, error({ code: 'rate_limit_exceeded' })), 'rate limit'],
    ['failing', json(529, error({ type: 'overloaded_error' })), 'fails itself (529)'],
    ['unknown-model', json(404, error({ code: 'model_not_found' })), 'it knows no model-a'],
    [
      'unknown-model',
      json(404, { type: 'error', error: { type: 'not_found_error', message: 'model: model-a' } }),
      'knows no',
    ],
    [
      'unknown-model',
      json(400, { error: { message: 'Invalid model name passed in model=model-a', code: '400' } }),
      'knows no',
    ],
    ['unknown-model', json(404, { message: 'The model `model-a` does not exist.', code: 404 }), 'knows no'],
    ['unknown-path', json(404, { detail: 'Not Found' }), 'knows no /v1/chat/completions (404)'],
    ['unknown-path', { status: 404, type: 'text/plain', text: '404 page not found', location: null }, 'knows no /v1'],
    ['refused', json(400, error({ code: 'bad_thing' })), 'refuses the request (400, bad_thing)'],
    [
      'answers',
      json(400, {
        error: { message: 'Could not finish the message because max_tokens or model output limit was reached.' },
      }),
      'answers',
    ],
    [
      'redirected',
      { status: 301, type: '', text: '', location: 'https://other.example/x' },
      'sends on to https://other.example',
    ],
    [
      'proxy-refuses',
      { status: 407, type: 'text/html', text: '<html>', location: null },
      'the proxy asks for a credential',
    ],
    [
      'not-the-vendor',
      { status: 200, type: 'text/html', text: '<html>', location: null },
      'a page answers at vendor.example',
    ],
    ['not-the-vendor', { status: 403, type: '', text: ' <!DOCTYPE html>', location: null }, 'a page answers'],
    ['credential-refused', network('GoogleCredentials'), 'Google gives no token'],
    ['unknown-host', network('ENOTFOUND'), 'no host vendor.example is known'],
    ['unreachable', network('ECONNREFUSED'), 'nothing answers at vendor.example (ECONNREFUSED)'],
    [
      'unreachable',
      network('EPROTO'),
      'does not answer in TLS (EPROTO): see whether the base URL is to begin with http://',
    ],
    ['unreachable', network('ECONNRESET'), 'hangs up before it answers (ECONNRESET)'],
    ['unreachable', network('Malformed_HTTP_Response'), 'does not answer in HTTP'],
    ['certificate', network('SELF_SIGNED_CERT_IN_CHAIN'), 'is not trusted'],
    ['certificate', network('CERT_NOT_YET_VALID'), "see whether this machine's clock is right"],
    ['silent', network('', 'gateway_timeout'), 'did not answer within 30 s'],
  ] as const)('%s: %j', (verdict, answer, words) => {
    const found = said(answer)
    expect(found).toEqual({ verdict, words: expect.stringContaining(words) })
    expect(found.words).not.toContain(SECRET)
  })

  test('an unknown model where its own list does not have it, with the nearest of that', () => {
    const list = ['model-a-2026', 'model-b', 'whisper', 'other-model-a']
    expect(said(json(400, error({})), list).words).toBe(
      'it knows no model-a; it has model-a-2026, other-model-a, model-b: set the upstream of this model',
    )
    expect(said(json(400, error({})), [...list, 'model-a']).verdict).toBe('refused')
  })

  test('a code is told only where it is one', () => {
    expect(said(json(400, error({ code: 'a sentence of the vendor' }))).words).not.toContain('sentence')
  })
})

describe('an account', () => {
  let vendors: RealVendors
  beforeAll(async () => {
    vendors = await startRealVendors()
  })
  afterAll(() => vendors.stop())

  const set = (name: 'anthropic' | 'openai', id: string): { provider: Provider; models: Model[] } => {
    const preset = presetNamed(name)
    if (preset === undefined) throw new Error(name)
    const provider = presetBase(id, preset)
    const sold = presetModels([provider], []).models.filter((model) => model.provider === id && !model.unlisted)
    return { provider, models: sold.filter((model) => BUILTIN_MODELS.some((one) => one.id === model.id)) }
  }
  const account = (baseUrl: string, credential: string): Account => ({ name: 'main', baseUrl, credential, weight: 1 })
  const ask = (which: 'a' | 'b', more: Partial<Account> = {}, models?: Model[]) => {
    const known = which === 'a' ? set('anthropic', 'vendor_a') : set('openai', 'vendor_b')
    const at = { ...account(vendors[which], VENDOR_KEYS[which]), ...more }
    return askAccount({ fetch, provider: known.provider, account: at }, models ?? known.models)
  }
  const verdicts = async (found: ReturnType<typeof ask>) => (await found).map(({ model, verdict }) => [model, verdict])

  test('that is right answers for each model', async () => {
    expect(await verdicts(ask('a'))).toEqual([
      ['vendorA-opus-4-8', 'answers'],
      ['vendorA-opus-4-7', 'answers'],
      ['vendorA-sonnet-5', 'answers'],
      ['vendorA-sonnet-4-6', 'answers'],
      ['vendorA-haiku-4-5', 'answers'],
    ])
    expect(new Set((await ask('b')).map(({ verdict }) => verdict))).toEqual(new Set(['answers']))
  })

  test('is told of once where all of its models would say the same', async () => {
    expect(await verdicts(ask('a', { credential: 'wrong' }))).toEqual([[undefined, 'credential-refused']])
  })

  test('names the model that it does not know, and the nearest that it has', async () => {
    const [model] = set('anthropic', 'vendor_a').models
    if (model === undefined) throw new Error('no model')
    const [found] = await ask('a', {}, [{ ...model, upstream: 'claude-opus-4-9' }])
    expect(found).toMatchObject({ ok: false, verdict: 'unknown-model', upstream: 'claude-opus-4-9' })
    expect(found?.words).toContain('it has claude-opus-4-8, claude-opus-4-7')
  })

  test.each([
    ['/v1', '', ': the base URL lacks a /v1 at its end'],
    ['/v1/v1', '/v1/v1', ': the base URL has a /v1 too many'],
  ])('under %s is told what to do', async (_, path, words) => {
    const server = Bun.serve({
      port: 0,
      fetch: (request) =>
        new URL(request.url).pathname === '/v1/models'
          ? Response.json({ data: [{ id: 'm' }] })
          : new Response('404 page not found', { status: 404 }),
    })
    const [found] = await ask('b', { baseUrl: `http://127.0.0.1:${server.port}${path}` })
    await server.stop(true)
    expect(found).toMatchObject({ verdict: 'unknown-path', words: expect.stringContaining(words) })
  })

  test('that does not listen is told of', async () => {
    const port = freePort()
    expect(await ask('b', { baseUrl: `http://127.0.0.1:${port}/v1` })).toMatchObject([
      { ok: false, verdict: 'unreachable', words: expect.stringContaining(`127.0.0.1:${port}`) },
    ])
  })

  test('without a model is asked for its list', async () => {
    expect(await ask('b', {}, [])).toMatchObject([{ ok: true, verdict: 'listed', model: undefined }])
    expect(await ask('b', { credential: 'x' }, [])).toMatchObject([{ ok: false, verdict: 'credential-refused' }])
  })

  test('that serves nothing but pictures has its models looked up, for to draw costs', async () => {
    const { provider, models } = set('openai', 'vendor_b')
    const [text] = models
    if (text === undefined) throw new Error('no model')
    const draws = (upstream: string): Model => ({ ...text, id: upstream, kind: 'image', upstream })
    const asked: string[] = []
    let list: object | undefined
    const server = Bun.serve({
      port: 0,
      fetch: (request) => {
        asked.push(`${request.method} ${new URL(request.url).pathname}`)
        return list === undefined ? new Response('404 page not found', { status: 404 }) : Response.json(list)
      },
    })
    const look = async (wires = provider.wires) =>
      (
        await askAccount(
          { fetch, provider: { ...provider, wires }, account: account(`http://127.0.0.1:${server.port}/v1`, 'k') },
          [draws('image-1'), draws('image-2')],
        )
      ).map(({ model, ok, verdict, words }) => [model, ok, verdict, words])
    list = { data: [{ id: 'image-1' }] }
    expect(await look()).toEqual([
      ['image-1', true, 'listed', 'in its list; not asked: to draw costs'],
      ['image-2', false, 'unknown-model', 'it knows no image-2; it has image-1: set the upstream of this model'],
    ])
    // What it cannot be reached by holds for all of them.
    list = undefined
    expect(await look()).toMatchObject([[undefined, false, 'unknown-path', expect.stringContaining('/v1/models')]])
    list = { data: [] }
    expect(await look(['embeddings'])).toEqual([
      [undefined, true, 'listed', 'answers; its models are not asked, for they say no word'],
    ])
    await server.stop(true)
    expect(new Set(asked)).toEqual(new Set(['GET /v1/models']))
  })

  test('whose answers carry a fault does not answer, whatever its status', async () => {
    const server = Bun.serve({
      port: 0,
      fetch: (request) =>
        request.method === 'GET' ? new Response(null, { status: 404 }) : Response.json({ error: { message: SECRET } }),
    })
    const found = await ask('b', { baseUrl: `http://127.0.0.1:${server.port}/v1` })
    await server.stop(true)
    expect(found).toMatchObject([{ model: undefined, verdict: 'not-the-vendor' }])
  })

  test('that is nowhere is told to see its base URL', async () => {
    const server = Bun.serve({ port: 0, fetch: () => new Response('404 page not found', { status: 404 }) })
    const [found] = await ask('b', { baseUrl: `http://127.0.0.1:${server.port}/v1` })
    await server.stop(true)
    expect(found?.words).toEndWith(': see the base URL and wires')
  })

  test('is asked for no longer an answer than its model gives', async () => {
    const { models } = set('openai', 'vendor_b')
    const [model] = models
    if (model === undefined) throw new Error('no model')
    const bodies: string[] = []
    const server = Bun.serve({
      port: 0,
      fetch: async (request) => {
        bodies.push(await request.text())
        return Response.json({})
      },
    })
    for (const maxOutput of [16, 100_000])
      await ask('b', { baseUrl: `http://127.0.0.1:${server.port}/v1` }, [{ ...model, maxOutput }])
    await server.stop(true)
    const caps = bodies.filter((text) => text !== '').map((text) => /"max_\w+":(\d+)/.exec(text)?.[1])
    expect(caps).toEqual(['16', '256'])
  })

  test.each([
    [
      { data: [{ id: 'a', context_length: 9, pricing: { prompt: '0.000003', completion: '0.000015' } }] },
      [{ id: 'a', context: 9, price: { input: 3, output: 15 } }],
    ],
    [{ data: [{ id: 'a', max_model_len: 1024, max_tokens: 4096 }] }, [{ id: 'a', context: 1024 }]],
    [[{ id: 'a', pricing: { prompt: 'free' } }], [{ id: 'a' }]],
    [
      [
        { id: 'a', pricing: { prompt: '0', completion: '0' } },
        { id: 'b', pricing: { prompt: '-1', completion: '1' } },
      ],
      [{ id: 'a', price: { input: 0, output: 0 } }, { id: 'b' }],
    ],
    // Some servers tell the context a second time as what an answer may have.
    [
      [
        { id: 'a', context_window: 9, max_tokens: 9 },
        { id: 'b', max_tokens: 9 },
      ],
      [
        { id: 'a', context: 9, maxOutput: 9 },
        { id: 'b', maxOutput: 9 },
      ],
    ],
    [{ models: [{ name: 'models/a' }, 'b', {}] }, [{ id: 'a' }, { id: 'b' }]],
    [{ nothing: 1 }, undefined],
  ])('lists %j', async (body, listed) => {
    const server = Bun.serve({ port: 0, fetch: () => Response.json(body) })
    const { provider } = set('openai', 'vendor_b')
    const found = await listOf({ fetch, provider, account: account(`http://127.0.0.1:${server.port}/v1`, 'k') })
    await server.stop(true)
    expect(found).toEqual(listed)
  })
})
