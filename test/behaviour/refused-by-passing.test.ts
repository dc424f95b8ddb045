// Refusals on wires that only pass: which member of a JSON body, or of a form, they are about, and what is asked again without
// that.

import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { blankProvider } from '../../src/provider/builtin.ts'
import { startGateway } from '../support/gateway.ts'
import { modelOf, withModels } from '../support/models.ts'
import { json, type Script, startScripted } from '../support/provider/scripted.ts'

let next: (text: string) => Script = () => ({})
const provider = await startScripted(({ text }) => next(text))
const accounts = [{ name: 'one', baseUrl: `${provider.origin}/v1`, credential: 'one', weight: 1 }]
const asked = { embed: 'embedding', voice: 'speech', scribe: 'transcription', drawn: 'image' } as const
const gateway = await startGateway({
  config: {
    providers: [{ ...blankProvider('vendor_b'), wires: ['embeddings', 'audio', 'images'], accounts }],
    // Of each test its own: what a model refuses is remembered.
    models: withModels(
      ...Object.entries(asked).flatMap(([name, kind]) =>
        Array.from({ length: 4 }, (_, at) => modelOf(`${name}-${at}`, kind)),
      ),
    ),
  },
})
afterAll(async () => {
  await gateway.stop()
  await provider.stop()
})
beforeEach(() => {
  provider.requests.length = 0
})

const refused = (error: object, status = 400): Script => json({ error }, status)
const post = (path: string, fields: Record<string, string>, file?: string) => {
  if (file === undefined) return gateway.post(`/v1/${path}`, fields)
  const form = new FormData()
  form.append(file, new Blob([Buffer.alloc(900)]), 'one.bin')
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  const headers = { authorization: `Bearer ${gateway.secret}` }
  return fetch(`${gateway.url}/v1/${path}`, { method: 'POST', headers, body: form })
}

describe('a refusal tells its client the member', () => {
  const speak = { model: 'voice-0', input: 'A lock', voice: 'zz' }
  const hear = { model: 'scribe-0', language: 'xx' }
  const edit = { model: 'drawn-0', prompt: 'a lock' }
  const loc = [{ type: 'enum', loc: ['body', 'language'], msg: 'provider text' }]
  test.each<[string, string, Script, Record<string, string>, string | undefined]>([
    ['voice', 'audio/speech', refused({ message: "Voice 'zz' not found. provider text" }), speak, undefined],
    [
      'input',
      'embeddings',
      json({ message: 'batch size 64 > 32, provider text' }, 422),
      { model: 'embed-0', input: 'a' },
      undefined,
    ],
    ['language', 'audio/transcriptions', json({ detail: loc }, 422), hear, 'file'],
    ['file', 'audio/transcriptions', refused({ message: 'Invalid file format. provider text' }), hear, 'file'],
    ['image', 'images/edits', refused({ message: 'Invalid image file, provider text', param: 'image' }), edit, 'image'],
    ['image[]', 'images/edits', refused({ message: 'provider text', param: 'image' }), edit, 'image[]'],
  ])('%s at %s', async (param, path, script, fields, file) => {
    next = () => script
    const response = await post(path, fields, file)
    const text = await response.text()
    expect([response.status, JSON.parse(text).error]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid_request', param }),
    ])
    expect(text).not.toContain('provider text')
  })

  test('and is about the provider where it means none of them', async () => {
    next = () => refused({ message: 'this key has no rights here' })
    expect((await post('audio/transcriptions', { model: 'scribe-0' }, 'file')).status).toBe(502)
  })
})

const picture = json({ created: 1, data: [{ b64_json: 'AAAA' }] })
const unknown = (name: string) => refused({ message: `Unknown parameter: '${name}'.`, param: name })

describe('is asked again without', () => {
  test.each([
    ['images/generations', 'drawn-1', undefined],
    ['images/edits', 'drawn-3', 'image'],
  ])('the format that pictures have anyway, at %s', async (path, model, file) => {
    next = (text) => (text.includes('response_format') ? unknown('response_format') : picture)
    const fields = { model, prompt: 'a lock', response_format: 'b64_json' }
    const [first, second] = [await post(path, fields, file), await post(path, fields, file)]
    expect([first.status, second.status]).toEqual([200, 200])
    expect(await first.json()).toMatchObject({ data: [{ b64_json: 'AAAA' }] })
    expect(provider.requests.filter(({ text }) => text.includes('response_format'))).toHaveLength(1)
  })

  test('the format that vectors can be given by the gateway', async () => {
    const vector = [0.25, -1.5, 1e-7]
    next = (text) =>
      text.includes('encoding_format')
        ? json({ detail: [{ loc: ['body', 'encoding_format'], msg: 'Extra inputs are not permitted' }] }, 422)
        : json({ object: 'list', data: [{ index: 0, embedding: vector }] })
    const response = await post('embeddings', { model: 'embed-1', input: 'a', encoding_format: 'base64' })
    const { data } = (await response.json()) as { data: { embedding: string }[] }
    const bytes = Uint8Array.from(Buffer.from(data[0]?.embedding ?? '', 'base64'))
    expect([...new Float32Array(bytes.buffer)]).toEqual(vector.map(Math.fround))
  })
})

describe('a picture’s address', () => {
  test('is not given up for its bytes', async () => {
    next = () => unknown('response_format')
    const response = await post('images/generations', { model: 'drawn-2', prompt: 'a', response_format: 'url' })
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_request', param: 'response_format' } })
    expect(provider.requests).toHaveLength(1)
  })
})

describe('vectors', () => {
  test.each([
    ['base64', [0.5, 2], 'AAAAPwAAAEA='],
    ['base64', 'AAAAPwAAAEA=', 'AAAAPwAAAEA='],
    ['base64', [], []],
    ['float', [0.5, 2], [0.5, 2]],
    [undefined, [0.5, 2], [0.5, 2]],
  ])('asked for as %s that come as %j go on as %j', async (encoding_format, embedding, expected) => {
    next = () =>
      json({
        object: 'list',
        data: [
          { index: 0, embedding },
          { index: 1, embedding },
        ],
        usage: null,
      })
    const response = await gateway.post('/v1/embeddings', { model: 'embed-2', input: ['a', 'b'], encoding_format })
    expect(await response.json()).toEqual({
      object: 'list',
      data: [0, 1].map((index) => ({ index, embedding: expected })),
      usage: null,
    } as never)
  })
})
