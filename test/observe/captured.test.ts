// What is said in an exchange, exported for keys that are told to, and for them alone: on every wire, whole and in a stream, as far as
// it came, within bounds, without bytes and secrets. The receiver decodes the protobuf.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Kind } from '../../src/ir/wire.ts'
import { capture } from '../../src/observe/otlp/content.ts'
import { createExporter, MOST_HELD_BYTES } from '../../src/observe/otlp/exporter.ts'
import type { Provider } from '../../src/provider/provider.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { gate, json, type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { type OtlpReceiver, startOtlpReceiver } from './otlp-receiver.ts'

const SYSTEM = 'gen_ai.system_instructions'
const INPUT = 'gen_ai.input.messages'
const OUTPUT = 'gen_ai.output.messages'

let receiver: OtlpReceiver
let provider: Scripted
let gateway: TestGateway
let script: () => Script
beforeEach(async () => {
  receiver = startOtlpReceiver()
  provider = await startScripted(() => script())
})
afterEach(async () => {
  // Some tests need none.
  await gateway?.stop()
  await provider.stop()
  await receiver.stop()
})

const begin = async (wires: Provider['wires'] = ['messages']): Promise<void> => {
  const otlp = { endpoint: receiver.endpoint, headers: {}, resource: {}, traces: true, metrics: false, sample: 1 }
  gateway = await startGateway({ config: { ...onlyProvider(provider.origin, { wires }), otlp } })
}

type Asking = { path: string; body: object; signal?: AbortSignal; key?: string }

const MODEL = 'vendorA-opus-4-8'

/** By a key that has it, unless another is given. */
const ask = async ({ path, body, signal, key }: Asking): Promise<string> => {
  const secret = key ?? (await gateway.issue({ capture: 'content' })).secret
  const answer = await gateway.post(path, { model: MODEL, ...body }, { authorization: `Bearer ${secret}` }, signal)
  return answer.text()
}

/** The attributes of the exchange's span, its JSON read. */
const told = async (): Promise<Record<string, unknown>> => {
  await gateway.idle()
  await gateway.server.gateway.otlp?.stop()
  const [own] = receiver.spans.filter(({ parent }) => parent === '')
  const read = ([name, value]: [string, unknown]): [string, unknown] => [
    name,
    [SYSTEM, INPUT, OUTPUT].includes(name) ? JSON.parse(String(value)) : value,
  ]
  return Object.fromEntries(Object.entries(own?.attributes ?? {}).map(read))
}

const frames = (...events: object[]): string =>
  events.map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const chunks = (...all: object[]): string => all.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
const stream = (...steps: string[]): Script => ({ headers: { 'content-type': 'text/event-stream' }, steps })

const STARTED = {
  type: 'message_start',
  message: { id: 'msg_7', type: 'message', role: 'assistant', model: 'up', content: [], usage: { input_tokens: 3 } },
}
const piece = (text: string) => [
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
]
const END = [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 4 } },
  { type: 'message_stop' },
]
const WHOLE = {
  ...{ id: 'msg_8', type: 'message', role: 'assistant', model: 'up', stop_reason: 'tool_use', stop_sequence: null },
  content: [
    { type: 'thinking', thinking: 'a scale is needed', signature: 'c2VhbGVk'.repeat(40) },
    { type: 'text', text: 'Weighing it.' },
    { type: 'tool_use', id: 'toolu_1', name: 'weigh', input: { stone: 'jade' } },
  ],
  usage: { input_tokens: 3, output_tokens: 4 },
}
const PNG = `iVBORw0KGgo${'A'.repeat(3_989)}`

describe('on each chat wire', () => {
  const history = {
    messages: {
      path: '/v1/messages',
      body: {
        max_tokens: 90,
        system: 'Be a jeweller.',
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'What is it?' }, picture()] },
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'toolu_0', name: 'weigh', input: { stone: 'ruby' } }],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_0', content: 'two carats' }] },
        ],
      },
    },
    'chat-completions': {
      path: '/v1/chat/completions',
      body: {
        messages: [
          { role: 'system', content: 'Be a jeweller.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is it?' },
              { type: 'image_url', image_url: inline() },
            ],
          },
          { role: 'assistant', content: null, tool_calls: [called()] },
          { role: 'tool', tool_call_id: 'toolu_0', content: 'two carats' },
        ],
      },
    },
    responses: {
      path: '/v1/responses',
      body: {
        instructions: 'Be a jeweller.',
        input: [
          {
            ...{ type: 'message', role: 'user' },
            content: [
              { type: 'input_text', text: 'What is it?' },
              { type: 'input_image', image_url: inline().url },
            ],
          },
          { type: 'function_call', call_id: 'toolu_0', name: 'weigh', arguments: '{"stone":"ruby"}' },
          { type: 'function_call_output', call_id: 'toolu_0', output: 'two carats' },
        ],
      },
    },
  }
  const asked = [
    {
      role: 'user',
      parts: [
        { type: 'text', content: 'What is it?' },
        { type: 'blob', mime_type: 'image/png', modality: 'image', content: '', bytes: 3_000 },
      ],
    },
    { role: 'assistant', parts: [{ type: 'tool_call', id: 'toolu_0', name: 'weigh', arguments: { stone: 'ruby' } }] },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'toolu_0', response: 'two carats' }] },
  ]
  const system = [{ type: 'text', content: 'Be a jeweller.' }]

  test.each(Object.entries(history))(
    '%s: what was asked and a whole answer, passed or translated',
    async (wire, one) => {
      await begin()
      script = () => json(WHOLE)
      await ask(one)
      const all = await told()
      const isApart = wire !== 'chat-completions'
      expect(all[SYSTEM]).toEqual(isApart ? system : undefined)
      expect(all[INPUT]).toEqual(isApart ? asked : [{ role: 'system', parts: system }, ...asked])
      expect(all[OUTPUT]).toEqual([
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', content: 'a scale is needed' },
            { type: 'text', content: 'Weighing it.' },
            { type: 'tool_call', id: 'toolu_1', name: 'weigh', arguments: { stone: 'jade' } },
          ],
          finish_reason: 'tool_call',
        },
      ])
      expect(all['sluice.capture.characters_left_out']).toBeUndefined()
    },
  )

  test.each(Object.entries(history))('%s: a stream, passed or translated', async (_, { path, body }) => {
    await begin()
    script = () => stream(frames(STARTED, ...piece('Two ')), frames(...piece('carats.').slice(1), ...END))
    const text = await ask({ path, body: { ...body, stream: true } })
    expect(text).toContain('carats.')
    expect((await told())[OUTPUT]).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'Two carats.' }], finish_reason: 'stop' },
    ])
  })

  test('a key without it has none, nor has any before one is told to', async () => {
    await begin()
    script = () => json(WHOLE)
    const { id, secret } = await gateway.issue()
    const { keys } = gateway.server.gateway.store
    const actor = { kind: 'system', id: 'test' } as const
    await ask({ ...history.messages, key: secret })
    await keys.update(id, { capture: 'content' }, actor)
    await ask({ ...history.messages, key: secret })
    await keys.update(id, { capture: null }, actor)
    await ask({ ...history.messages, key: secret })
    await told()
    const owns = receiver.spans.filter(({ parent }) => parent === '')
    expect(owns.map(({ attributes }) => INPUT in attributes || OUTPUT in attributes)).toEqual([false, true, false])
    expect(receiver.spans.filter(({ parent }) => parent !== '').every(({ attributes }) => !(INPUT in attributes))).toBe(
      true,
    )
  })

  test('a client’s trace that is left out takes nothing along', async () => {
    await begin()
    script = () => json(WHOLE)
    const { secret } = await gateway.issue({ capture: 'content' })
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`
    await (
      await gateway.post(
        '/v1/messages',
        { model: MODEL, ...history.messages.body },
        {
          ...{ authorization: `Bearer ${secret}`, traceparent },
        },
      )
    ).text()
    await told()
    expect(receiver.spans).toEqual([])
  })
})

function picture() {
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }
}
function inline() {
  return { url: `data:image/png;base64,${PNG}` }
}
function called() {
  return { id: 'toolu_0', type: 'function', function: { name: 'weigh', arguments: '{"stone":"ruby"}' } }
}

const HELLO = { path: '/v1/messages', body: { max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] } }
const OF_CHAT = { path: '/v1/chat/completions', body: { messages: [{ role: 'user', content: 'Hello' }] } }

describe('an answer', () => {
  test('that breaks off is told as far as it came', async () => {
    await begin()
    const cut = gate()
    script = () => ({ ...stream(), steps: [frames(STARTED, ...piece('Half a tho')), cut], end: 'cut' })
    const { secret } = await gateway.issue({ capture: 'content' })
    const body = { model: MODEL, ...HELLO.body, stream: true }
    const answer = await gateway.post('/v1/messages', body, { authorization: `Bearer ${secret}` })
    const reader = answer.body?.getReader()
    await reader?.read()
    cut.open()
    while ((await reader?.read())?.done === false);
    expect((await told())[OUTPUT]).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'Half a tho' }], finish_reason: 'error' },
    ])
  })

  test('that its client leaves is told as far as it came', async () => {
    await begin()
    script = () => ({
      ...stream(frames(STARTED, ...piece('Are you still'))),
      steps: [frames(STARTED, ...piece('Are you still')), gate()],
    })
    const { secret } = await gateway.issue({ capture: 'content' })
    const leaving = new AbortController()
    const answer = await gateway.post(
      '/v1/messages',
      { model: MODEL, ...HELLO.body, stream: true },
      { authorization: `Bearer ${secret}` },
      leaving.signal,
    )
    const reader = answer.body?.getReader()
    await reader?.read()
    leaving.abort()
    await reader?.read().catch(() => undefined)
    expect((await told())[OUTPUT]).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'Are you still' }], finish_reason: 'aborted' },
    ])
  })

  test('that never came leaves what was asked', async () => {
    await begin()
    script = () => ({ status: 500, steps: ['{}'] })
    await ask(HELLO)
    const all = await told()
    expect(all[INPUT]).toEqual([{ role: 'user', parts: [{ type: 'text', content: 'Hello' }] }])
    expect(all[OUTPUT]).toBeUndefined()
  })

  test.each([false, true])('of several is a message each (stream: %p)', async (isStream) => {
    await begin(['chat-completions'])
    const common = { id: 'c_1', object: 'chat.completion', created: 1, model: 'up' }
    const whole = (index: number, content: string) => ({
      ...{ index, finish_reason: 'stop', message: { role: 'assistant', content } },
    })
    const delta = (index: number, content: string, finish_reason: string | null = null) => ({
      ...{ ...common, object: 'chat.completion.chunk' },
      choices: [{ index, delta: { content }, finish_reason }],
    })
    script = () =>
      isStream
        ? stream(
            chunks(delta(0, 'he'), delta(1, 'ta'), delta(0, 'ads', 'stop'), delta(1, 'ils', 'stop')),
            'data: [DONE]\n\n',
          )
        : json({ ...common, choices: [whole(0, 'heads'), whole(1, 'tails')] })
    await ask({ ...OF_CHAT, body: { ...OF_CHAT.body, n: 2, stream: isStream } })
    expect((await told())[OUTPUT]).toEqual(
      ['heads', 'tails'].map((content) => ({
        ...{ role: 'assistant', parts: [{ type: 'text', content }], finish_reason: 'stop' },
      })),
    )
  })

  test('in the form that was not asked for is told once', async () => {
    await begin()
    script = () => json({ ...WHOLE, content: [{ type: 'text', text: 'All at once.' }], stop_reason: 'max_tokens' })
    await ask({ ...HELLO, body: { ...HELLO.body, stream: true } })
    expect((await told())[OUTPUT]).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'All at once.' }], finish_reason: 'length' },
    ])
  })

  test('made in the background is told once it has ended', async () => {
    await begin(['responses'])
    const common = { id: 'resp_bg', object: 'response', created_at: 1, model: 'up', background: true }
    const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' }
    const over = [{ ...item, content: [{ type: 'output_text', text: 'At leisure.', annotations: [] }] }]
    let read = 0
    script = () =>
      read++ === 0
        ? json({ ...common, status: 'in_progress', output: [] })
        : json({ ...common, status: 'completed', output: over, usage: { input_tokens: 1, output_tokens: 2 } })
    const { secret } = await gateway.issue({ capture: 'content' })
    const headers = { authorization: `Bearer ${secret}` }
    const asked = { model: MODEL, input: 'Take your time', background: true }
    await (await gateway.post('/v1/responses', asked, headers)).text()
    await (await gateway.get('/v1/responses/resp_bg', headers)).text()
    const all = await told()
    expect(all[INPUT]).toMatchObject([{ parts: [{ content: 'Take your time' }] }])
    expect(all[OUTPUT]).toMatchObject([{ parts: [{ type: 'text', content: 'At leisure.' }], finish_reason: 'stop' }])
  })

  test('of an attempt that failed is not that of the next', () => {
    const said = capture()
    for (const text of ['First', 'Second']) {
      said.begin()
      said.heard(0, [{ type: 'text-delta', part: 0, text }])
    }
    expect(JSON.parse(String(said.told('done')[OUTPUT]))).toMatchObject([{ parts: [{ content: 'Second' }] }])
  })

  test('has its place among the others, whatever number its provider gives it, and so many are told', () => {
    const said = capture()
    const texts = (): string[] =>
      JSON.parse(String(said.told('done')[OUTPUT])).map(
        ({ parts }: { parts: { content: string }[] }) => parts[0]?.content,
      )
    for (const at of [2 ** 32, 7, 0])
      said.heard(at, [
        { type: 'text-start', part: 0 },
        { type: 'text-delta', part: 0, text: `at ${at}` },
      ])
    expect(texts()).toEqual(['at 0', 'at 7', `at ${2 ** 32}`])
    for (let at = 0; at < 1_000; at++) said.heard(at * 3, [{ type: 'text-start', part: 0 }])
    expect(texts().length).toBeLessThan(200)
  })
})

describe('bytes and secrets', () => {
  const ofText = async (text: string): Promise<string> => {
    await begin()
    script = () => json(WHOLE)
    await ask({ ...HELLO, body: { ...HELLO.body, messages: [{ role: 'user', content: text }] } })
    const all = await told()
    return (all[INPUT] as { parts: { content: string }[] }[])[0]?.parts[0]?.content ?? ''
  }

  test('base64 within a text is told by its kind and size', async () => {
    expect(await ofText(`see data:application/pdf;base64,${'QUJD'.repeat(4)} and ${'QUJD'.repeat(100)}=, please`)).toBe(
      'see [application/pdf, 12 bytes] and [base64, 300 bytes], please',
    )
  })

  test('a secret of ours is told by its end', async () => {
    const secret = `sk-sl-${'x'.repeat(39)}Last`
    expect(await ofText(`use ${secret} there`)).toBe('use sk-sl-…Last there')
  })

  test('so is a token of the admin API', async () => {
    const secret = `sl-admin-${'x'.repeat(39)}Last`
    expect(await ofText(`TOKEN=${secret}`)).toBe('TOKEN=sl-admin-…Last')
  })

  test('whatever holds it: a name, an id, a type, however long', () => {
    const secret = `sk-sl-${'x'.repeat(39)}Last`
    const held = fc.tuple(fc.string({ maxLength: 300 }), fc.string({ maxLength: 300 })).map(([a, b]) => a + secret + b)
    const call = fc.record({ id: held, name: held, input: held }).map((one) => ({
      ...{ type: 'tool-call' as const, kind: 'function' as const, ...one },
    }))
    const part = fc.oneof(
      held.map((text) => ({ type: 'text' as const, text })),
      held.map((id) => ({
        ...{ type: 'image' as const, source: { kind: 'file' as const, id, origin: 'messages' as const } },
      })),
      held.map((mediaType) => ({
        ...{ type: 'image' as const, source: { kind: 'base64' as const, mediaType, data: '' } },
      })),
      held.map((url) => ({ type: 'image' as const, source: { kind: 'url' as const, url } })),
      held.map((type) => ({ type: 'opaque' as const, origin: 'messages' as const, value: { type, [secret]: secret } })),
    )
    const result = fc.tuple(held, fc.array(part, { maxLength: 2 })).map(([callId, parts]) => ({
      ...{ type: 'tool-result' as const, kind: 'function' as const, callId, parts },
    }))
    fc.assert(
      fc.property(held, part, call, result, (name, one, called, answered) => {
        const said = capture()
        said.asked(
          [
            { role: 'user', name, parts: [one, answered] },
            { role: 'assistant', parts: [called] },
          ],
          0,
        )
        said.heard(0, [{ part: 0, ...called, type: 'tool-start' }])
        said.came('audio', name, 1)
        expect(JSON.stringify(said.told('done'))).not.toContain(secret.slice(0, 20))
      }),
    )
  })

  test('of a link what may let its reader in is left out', () => {
    const said = capture()
    const url = 'https://user:word@files.example/a.png?signature=abc#x'
    said.askedFor([{ type: 'image', source: { kind: 'url', url } }])
    expect(JSON.parse(String(said.told('done')[INPUT]))).toEqual([
      { role: 'user', parts: [{ type: 'uri', modality: 'image', uri: 'https://files.example/a.png' }] },
    ])
  })
})

describe('on wires that only pass', () => {
  const of = (kind: Kind) => {
    const config = onlyProvider(provider.origin, { wires: ['embeddings', 'moderations', 'images', 'audio'] })
    return { ...config, models: (config.models ?? []).map((model) => ({ ...model, kind })) }
  }
  const start = async (kind: Kind): Promise<void> => {
    const otlp = { endpoint: receiver.endpoint, headers: {}, resource: {}, traces: true, metrics: false, sample: 1 }
    gateway = await startGateway({ config: { ...of(kind), otlp } })
  }

  test('embeddings: texts, and how many vectors', async () => {
    await start('embedding')
    script = () =>
      json({ object: 'list', data: [{ embedding: [1, 2] }, { embedding: [3, 4] }], usage: { prompt_tokens: 2 } })
    await ask({ path: '/v1/embeddings', body: { input: ['one', 'two'] } })
    const all = await told()
    expect(all[INPUT]).toMatchObject([{ parts: [{ content: 'one' }, { content: 'two' }] }])
    expect(all[OUTPUT]).toMatchObject([{ parts: [{ type: 'embeddings', content: '{"count":2}' }] }])
  })

  test('moderations: what was looked at, and the results', async () => {
    await start('moderation')
    script = () => json({ id: 'm', results: [{ flagged: false }] })
    await ask({ path: '/v1/moderations', body: { input: [{ type: 'text', text: 'fine' }] } })
    const all = await told()
    expect(all[INPUT]).toMatchObject([{ parts: [{ type: 'text', content: 'fine' }] }])
    expect(all[OUTPUT]).toMatchObject([{ parts: [{ type: 'moderations', content: '[{"flagged":false}]' }] }])
  })

  test.each([false, true])('images: the wish, and what was drawn by kind and size (stream: %p)', async (isStream) => {
    await start('image')
    const drawn = { type: 'image_generation.completed', b64_json: PNG, output_format: 'png' }
    script = () => (isStream ? stream(frames(drawn)) : json({ created: 1, data: [{ b64_json: PNG }] }))
    await ask({ path: '/v1/images/generations', body: { prompt: 'a jade ring', stream: isStream } })
    const all = await told()
    expect(all[INPUT]).toMatchObject([{ parts: [{ type: 'text', content: 'a jade ring' }] }])
    expect(all[OUTPUT]).toMatchObject([
      { parts: [{ type: 'blob', mime_type: 'image/png', bytes: 3_000, content: '' }] },
    ])
  })

  test('speech: the text, and the sound by its size', async () => {
    await start('speech')
    script = () => ({ headers: { 'content-type': 'audio/mpeg' }, steps: [new Uint8Array(700), new Uint8Array(300)] })
    await ask({ path: '/v1/audio/speech', body: { input: 'say this', voice: 'alto' } })
    const all = await told()
    expect(all[INPUT]).toMatchObject([{ parts: [{ type: 'text', content: 'say this' }] }])
    expect(all[OUTPUT]).toMatchObject([{ parts: [{ modality: 'audio', mime_type: 'audio/mpeg', bytes: 1_000 }] }])
  })

  test('a transcript: the sound by its size, and the text', async () => {
    await start('transcription')
    script = () => json({ text: 'what was said', usage: { type: 'duration', seconds: 2 } })
    const { secret } = await gateway.issue({ capture: 'content' })
    const form = new FormData()
    form.set('model', MODEL)
    form.set('file', new File([new Uint8Array(512)], 'a.mp3'))
    const headers = { authorization: `Bearer ${secret}` }
    await (await fetch(`${gateway.url}/v1/audio/transcriptions`, { method: 'POST', body: form, headers })).text()
    const all = await told()
    expect(all[INPUT]).toMatchObject([{ parts: [{ type: 'blob', modality: 'audio', bytes: 512 }] }])
    expect(all[OUTPUT]).toMatchObject([{ parts: [{ type: 'text', content: 'what was said' }] }])
  })
})

describe('bounds', () => {
  const lengthOf = (value: unknown): number => Buffer.byteLength(String(value ?? ''))
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc
      .tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }), fc.nat(40_000))
      .map(([unit, times]) => unit.repeat(times)),
  )
  const turn = fc.record({
    role: fc.constantFrom('user' as const, 'assistant' as const),
    parts: fc.array(fc.record({ type: fc.constant('text' as const), text }), { maxLength: 8 }),
  })

  test('hold whatever is said, and what was cut is told', () => {
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 12 }), fc.array(text, { maxLength: 20 }), (turns, pieces) => {
        const said = capture()
        said.asked(turns, 0)
        said.begin()
        said.heard(
          0,
          pieces.map((text, at) => ({ type: 'text-delta', part: at % 3, text })),
        )
        const all = said.told('done')
        // A text's end says what is missing of it, and the last to fit may be followed by such ends.
        for (const name of [INPUT, OUTPUT]) expect(lengthOf(all[name])).toBeLessThan(66 * 1024)
        const out = Number(all['sluice.capture.characters_left_out'] ?? 0)
        const messages = Number(all['sluice.capture.messages_left_out'] ?? 0)
        const given = turns.length - messages
        expect(JSON.parse(String(all[INPUT]))).toHaveLength(given)
        expect(out > 0 || messages > 0).toBe(
          /more (?:characters|parts)\]/.test(`${all[INPUT]}${all[OUTPUT]}`) || messages > 0,
        )
      }),
      { numRuns: 60 },
    )
  })

  test.each([1, 2, 3, 50])('hold where only %i bytes are left', (left) => {
    const said = capture()
    // Each text that fits takes its bytes as JSON and 48 around it.
    const textOf = (bytes: number) => ({ type: 'text' as const, text: 'x '.repeat(bytes).slice(0, bytes - 2) })
    const filling = [16 * 1024, 16 * 1024, 16 * 1024, 64 * 1024 - 3 * 16 * 1024 - 4 * 48 - left]
    said.askedFor([...filling.map(textOf), { type: 'text', text: '\n'.repeat(99) }])
    expect(lengthOf(said.told('done')[INPUT])).toBeLessThan(66 * 1024)
  })

  test('the newest messages are kept', () => {
    const said = capture()
    said.asked(
      Array.from({ length: 40 }, (_, at) => ({
        ...{ role: 'user' as const, parts: [{ type: 'text' as const, text: `${at} ${'word '.repeat(2_000)}` }] },
      })),
      0,
    )
    const all = said.told('done')
    const messages = JSON.parse(String(all[INPUT])) as { parts: { content: string }[] }[]
    expect(messages.at(-1)?.parts[0]?.content).toStartWith('39 word')
    expect(Number(all['sluice.capture.messages_left_out']) + messages.length).toBe(40)
  })

  test('what waits for a receiver is bounded in bytes, and sent in batches of some megabytes', async () => {
    await begin()
    const batches: number[] = []
    const exporter = createExporter<number>({
      ...{ url: `${receiver.endpoint}/v1/traces`, headers: {}, gatherMs: 1_000_000, pausesMs: [] },
      encode: (items) => {
        batches.push(items.reduce((sum, each) => sum + each, 0))
        return new Uint8Array()
      },
      ...{ rejected: () => 0, failed: () => undefined, weigh: (bytes: number) => bytes },
    })
    const MB = 1024 * 1024
    exporter.add(Array.from({ length: 50 }, () => MB))
    expect(exporter.dropped()).toBe(50 - MOST_HELD_BYTES / MB)
    await exporter.stop(5_000)
    expect(batches).toEqual(Array.from({ length: 16 }, () => 2 * MB))
  })
})
