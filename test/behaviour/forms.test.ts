// Requests that come as forms, with files: passed on byte for byte but for the model's name, to as many accounts as it takes.

import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import { blankProvider } from '../../src/provider/builtin.ts'
import { startGateway } from '../support/gateway.ts'
import { type Script, startScripted } from '../support/provider/scripted.ts'

const PICTURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0x0d, 0x0a, 0x2d, 0x2d, 0xff])
const usage = { input_tokens: 330, output_tokens: 272, total_tokens: 602 }
const drawn: Script = { steps: [JSON.stringify({ created: 1, data: [{ b64_json: 'aGk=' }], usage })] }

let next: (index: number) => Script = () => drawn
const provider = await startScripted((_, index) => next(index))
const accounts = ['one', 'two'].map((name) => ({ name, baseUrl: `${provider.origin}/v1`, credential: name, weight: 1 }))
const gateway = await startGateway({
  config: {
    providers: [{ ...blankProvider('vendor_b'), wires: ['images'], accounts }],
    models: BUILTIN_MODELS.map((model) => ({ ...model, upstream: `up-${model.id}` })),
    bodyLimitBytes: 200_000,
  },
})
afterAll(async () => {
  await gateway.stop()
  await provider.stop()
})
beforeEach(() => {
  provider.requests.length = 0
  next = () => drawn
})

const TYPE = 'multipart/form-data; boundary=lock'
type Field = readonly [head: string, value: string | Uint8Array]
const text = (name: string, value: string): Field => [`Content-Disposition: form-data; name="${name}"`, value]
const file = (name: string, value: Uint8Array = PICTURE): Field => [
  `Content-Disposition: form-data; name="${name}"; filename="ein Bild.png"\r\nContent-Type: image/png`,
  value,
]
const written = (...fields: Field[]): Uint8Array =>
  Buffer.concat([
    ...fields.flatMap(([head, value]) => [
      Buffer.from(`--lock\r\n${head}\r\n\r\n`),
      Buffer.from(value as string),
      Buffer.from('\r\n'),
    ]),
    Buffer.from('--lock--\r\n'),
  ])

const send = (path: string, fields: Field[], headers: Record<string, string> = {}) =>
  gateway.post(path, written(...fields), { 'content-type': TYPE, ...headers })
const errorOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string; message: string; param: string | null } }
  return { status: response.status, ...error }
}

describe.each(['/v1/images/edits', '/v1/images/variations'])('%s', (path) => {
  const fields = (model: string): Field[] => [
    file('image[]'),
    text('prompt', 'ein Schloss, größer'),
    file('image[]'),
    text('model', model),
  ]

  test('passes on every byte but those of the model’s name', async () => {
    const response = await send(path, fields('vendorB-image-1'))
    expect(await response.json()).toMatchObject({ data: [{ b64_json: 'aGk=' }] })
    const [sent] = provider.requests
    expect([sent?.path, sent?.headers['content-type']]).toEqual([path, TYPE])
    expect(Buffer.from(sent?.bytes ?? []).equals(written(...fields('up-vendorB-image-1')))).toBe(true)
  })

  test('is billed by the provider’s figures', async () => {
    const { id, secret } = await gateway.issue()
    const response = await send(path, fields('vendorB-image-1'), { authorization: `Bearer ${secret}` })
    await response.text()
    await gateway.idle()
    const { store } = gateway.server.gateway
    const [row] = await store.exchanges({ limit: 1, id: response.headers.get('x-request-id') ?? '' })
    expect(row).toMatchObject({ wire: 'images', input: 330, output: 272, estimated: false, outcome: 'done' })
    expect(store.keys.get(id)?.tokensUsed).toBe(602)
  })

  test('is sent once more, whole, where an account fails', async () => {
    next = (index) => (index % 2 === 0 ? { status: 500, steps: ['{"error":{"message":"provider text"}}'] } : drawn)
    expect((await send(path, fields('vendorB-image-1'))).status).toBe(200)
    const [first, second] = provider.requests
    expect(second?.text).toBe(first?.text ?? '')
  })

  test('names the client’s own member that the provider refuses', async () => {
    const steps = [
      JSON.stringify({ error: { message: 'provider text', type: 'invalid_request_error', param: 'image' } }),
    ]
    next = () => ({ status: 400, headers: { 'content-type': 'application/json' }, steps })
    expect(await errorOf(await send(path, fields('vendorB-image-1')))).toMatchObject({ status: 400, param: 'image[]' })
  })

  test.each([
    ['two models', [text('model', 'vendorB-image-1'), text('model', 'vendorB-imagegen-3')], 'model'],
    ['the same model twice', [text('model', 'vendorB-image-1'), text('model', 'vendorB-image-1')], 'model'],
    [
      'a model beside it in other letters',
      [text('model', 'vendorB-image-1'), text('Model', 'other'), text('prompt', 'x')],
      'Model',
    ],
    ['a list of models', [text('model', 'vendorB-image-1'), text('model[]', 'other')], 'model[]'],
    ['a file for a model', [file('model')], 'model'],
    ['no model', [file('image')], 'model'],
    ['a count that is no number', [text('model', 'vendorB-image-1'), text('n', 'two'), text('prompt', 'x')], 'n'],
    ['more than can be asked for', [text('model', 'vendorB-image-1'), text('n', '11'), text('prompt', 'x')], 'n'],
  ] as const)('refuses %s', async (_, form, param) => {
    expect(await errorOf(await send(path, [...form]))).toMatchObject({ status: 400, code: 'invalid_request', param })
    expect(provider.requests).toEqual([])
  })

  test('refuses a form that is cut, and one whose boundary is not told', async () => {
    const whole = written(...fields('vendorB-image-1'))
    for (const [body, type] of [
      [whole.subarray(0, whole.length - 12), TYPE],
      [whole, 'multipart/form-data'],
    ] as const)
      expect(await errorOf(await gateway.post(path, body, { 'content-type': type }))).toMatchObject({
        status: 400,
        code: 'invalid_request',
      })
    expect(provider.requests).toEqual([])
  })

  test('refuses more than a body may have', async () => {
    const large = [text('model', 'vendorB-image-1'), file('image', Buffer.alloc(200_001))]
    expect(await errorOf(await send(path, large))).toMatchObject({ status: 413, code: 'payload_too_large' })
  })

  test('needs a key that may use the model, and one of its kind', async () => {
    const { secret } = await gateway.issue({ models: ['vendorB-5.5'] })
    const forbidden = await send(path, fields('vendorB-image-1'), { authorization: `Bearer ${secret}` })
    expect(await errorOf(forbidden)).toMatchObject({ status: 403, code: 'permission_denied' })
    expect(await errorOf(await send(path, fields('vendorB-5.5')))).toMatchObject({ status: 404, code: 'invalid_model' })
  })

  test('takes JSON too, as some servers do', async () => {
    const body = { model: 'vendorB-image-1', prompt: 'x', images: [{ image_url: 'https://files.example/a.png' }] }
    expect((await gateway.post(path, body)).status).toBe(200)
    expect(JSON.parse(provider.requests[0]?.text ?? '')).toEqual({ ...body, model: 'up-vendorB-image-1' })
  })
})

describe('a stream of an edit', () => {
  const asked: Field[] = [file('image'), text('prompt', 'x'), text('stream', 'true'), text('model', 'vendorB-image-1')]
  const completed = `event: image_edit.completed\ndata: ${JSON.stringify({ type: 'image_edit.completed', b64_json: 'aGk=', usage })}\n\n`

  test.each([
    ['passes', { headers: { 'content-type': 'text/event-stream' }, steps: [completed] }],
    ['is made of a whole answer where the provider gives that', drawn],
  ] as const)('%s, and is billed', async (_, script) => {
    next = () => script
    const response = await send('/v1/images/edits', asked)
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    expect(await response.text()).toContain('event: image_edit.completed\n')
    await gateway.idle()
    const [row] = await gateway.server.gateway.store.exchanges({
      limit: 1,
      id: response.headers.get('x-request-id') ?? '',
    })
    expect(row).toMatchObject({ stream: true, input: 330, output: 272, outcome: 'done' })
  })
})
