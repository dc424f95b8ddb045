// Speech and transcripts: sound passes as it is made, in both directions, and is billed in tokens, by the second or by the
// character.

import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { billOf } from '../../src/http/admin/bill.ts'
import { framesIn } from '../../src/lib/sse.ts'
import { blankProvider } from '../../src/provider/builtin.ts'
import { startGateway } from '../support/gateway.ts'
import { modelOf, withModels } from '../support/models.ts'
import { gate, type Script, startScripted } from '../support/provider/scripted.ts'

const PRICE = { input: 1, output: 2, cacheRead: 1, cacheWrite: 1 }
let next: (index: number) => Script = () => ({})
const provider = await startScripted((_, index) => next(index))
const accounts = ['one', 'two'].map((name) => ({ name, baseUrl: `${provider.origin}/v1`, credential: name, weight: 1 }))
const gateway = await startGateway({
  config: {
    providers: [{ ...blankProvider('vendor_b'), wires: ['audio'], accounts }],
    models: withModels(
      modelOf('voice', 'speech'),
      modelOf('aloud', 'speech', { price: { ...PRICE, audio: { input: 5, cacheRead: 5, output: 9 } } }),
      modelOf('dear', 'speech', { tokensPer: { second: 0, character: 2.5 } }),
      modelOf('scribe', 'transcription', { tokensPer: { second: 20, character: 1 } }),
    ),
    // A keep-alive within sound would be heard.
    keepAliveMs: 1,
    earlyStartMs: 1,
  },
})
afterAll(async () => {
  await gateway.stop()
  await provider.stop()
})
beforeEach(() => {
  provider.requests.length = 0
})

const errorOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string; message: string; param: string | null } }
  return { status: response.status, ...error }
}
const rowOf = async (response: Response) => {
  await gateway.idle()
  const [row] = await gateway.server.gateway.store.exchanges({
    limit: 1,
    id: response.headers.get('x-request-id') ?? '',
  })
  return row
}

/** Like compressed data, like text, and like neither. */
const SOUND = Buffer.concat([
  Buffer.from([0x1f, 0x8b, 0x08, 0, 0x20, 0x0a]),
  Buffer.from('{"error":'),
  Buffer.alloc(70_000, 0xfe),
])
const sound = (...steps: Script['steps'] & unknown[]): Script => ({ headers: { 'content-type': 'audio/mpeg' }, steps })
const speak = (more: object = {}, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  gateway.post('/v1/audio/speech', { model: 'voice', input: 'größer 🔒', voice: 'alloy', ...more }, headers, signal)

describe('speech', () => {
  test('passes byte for byte, whatever it begins like, and nothing comes between', async () => {
    const second = gate()
    next = () => sound(SOUND.subarray(0, 3), SOUND.subarray(3, 40_000), second, SOUND.subarray(40_000))
    const response = await speak()
    expect(response.headers.get('content-type')).toBe('audio/mpeg')
    const reader = response.body?.getReader()
    const pieces = [(await reader?.read())?.value ?? new Uint8Array()]
    second.open()
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) pieces.push(read.value)
    expect(Buffer.concat(pieces).equals(SOUND)).toBe(true)
    expect(JSON.parse(provider.requests[0]?.text ?? '')).toMatchObject({ model: 'up-voice', voice: 'alloy' })
  })

  test.each([
    ['voice', 8],
    ['dear', 20],
  ])('of %s is billed by its characters', async (model, tokens) => {
    next = () => sound(SOUND)
    const response = await speak({ model })
    await response.arrayBuffer()
    expect(await rowOf(response)).toMatchObject({
      wire: 'audio',
      input: tokens,
      output: 0,
      outcome: 'done',
      status: 200,
    })
  })

  test('of a text that takes more than the key has left is refused, and nobody is asked', async () => {
    next = () => sound(SOUND)
    const { secret } = await gateway.issue({ tokensTotal: 8 })
    const headers = { authorization: `Bearer ${secret}` }
    expect(await errorOf(await speak({ input: 'nine char' }, headers))).toMatchObject({
      status: 402,
      code: 'quota_exhausted',
    })
    expect(provider.requests).toEqual([])
    expect((await (await speak({}, headers)).arrayBuffer()).byteLength).toBe(SOUND.byteLength)
  })

  test('of a text whose tokens its provider may tell as fewer is not refused before they are known', async () => {
    next = () => json({})
    const { secret } = await gateway.issue({ tokensTotal: 8 })
    const asked = { input: 'nine char', stream_format: 'sse' }
    await (await speak(asked, { authorization: `Bearer ${secret}` })).arrayBuffer()
    expect(provider.requests.length).toBeGreaterThan(0)
  })

  test('goes to another account before its first byte', async () => {
    next = (index) =>
      index % 2 === 0 ? { status: 503, steps: ['{"error":{"message":"provider text"}}'] } : sound(SOUND)
    const response = await speak()
    expect((await response.arrayBuffer()).byteLength).toBe(SOUND.byteLength)
    expect(provider.requests).toHaveLength(2)
  })

  test.each([
    ['an error', { headers: { 'content-type': 'application/json' }, steps: ['{"error":{"message":"provider text"}}'] }],
    ['a page', { headers: { 'content-type': 'text/html' }, steps: ['<html>provider text</html>'] }],
    ['nothing', { headers: { 'content-type': 'audio/mpeg' }, steps: [] }],
  ] as const)('that is %s is a failure in the gateway’s words', async (_, script) => {
    next = () => script
    const error = await errorOf(await speak())
    expect(error).toMatchObject({ status: 502, code: 'upstream_error' })
    expect(error.message).not.toContain('provider text')
  })

  test('that breaks off does not end as if it were whole, and is billed', async () => {
    const begun = gate()
    next = () => ({ ...sound(SOUND, begun), end: 'cut' })
    const response = await speak()
    const reader = response.body?.getReader()
    await reader?.read()
    begun.open()
    const rest = async (): Promise<string> => {
      for (let read = await reader?.read(); read?.done === false; read = await reader?.read());
      return 'whole'
    }
    const end = await rest().catch(() => 'broken')
    expect(end).toBe('broken')
    expect(await rowOf(response)).toMatchObject({ outcome: 'failed', errorCode: 'upstream_error', input: 8 })
  })

  test('is not asked for on by a client that leaves', async () => {
    next = () => ({ ...sound(SOUND), end: 'stall' })
    const leaving = new AbortController()
    const response = await speak({}, {}, leaving.signal)
    await response.body?.getReader().read()
    leaving.abort()
    expect(await provider.requests[0]?.closed).toBe('aborted')
    expect(await rowOf(response)).toMatchObject({ outcome: 'aborted', input: 8 })
  })

  test('as events tells its usage', async () => {
    const usage = { input_tokens: 14, output_tokens: 101, total_tokens: 115 }
    const events = [
      { type: 'speech.audio.delta', audio: 'aGk=' },
      { type: 'speech.audio.done', usage },
    ]
    next = () => ({
      headers: { 'content-type': 'text/event-stream' },
      steps: events.map((event) => `data: ${JSON.stringify(event)}\n\n`),
    })
    const response = await speak({ model: 'aloud', stream_format: 'sse' })
    const text = await response.text()
    expect(text).toContain('speech.audio.delta')
    expect(text).toContain('speech.audio.done')
    // The text at the price of text, the sound at that of sound.
    const cost = { costMicroUsd: 14 * 1 + 101 * 9 }
    const row = await rowOf(response)
    expect(row).toMatchObject({ input: 14, output: 101, ...cost, estimated: false, outcome: 'done' })
    expect(row && billOf(gateway.server.gateway, row)?.lines).toMatchObject([
      { what: 'audio_output', count: 101, usd: 9 },
      { what: 'input', count: 14, usd: 1 },
    ])
  })

  test('that comes as sound where events were asked for is written as those', async () => {
    next = () => sound(SOUND.subarray(0, 40_000), SOUND.subarray(40_000))
    const response = await speak({ stream_format: 'sse' })
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    const events = framesIn(await response.text()).map(({ data }) => JSON.parse(data))
    expect(events.at(-1)).toEqual({ type: 'speech.audio.done' })
    const heard = events.slice(0, -1).map(({ audio }) => Buffer.from(audio, 'base64'))
    expect(Buffer.concat(heard).equals(SOUND)).toBe(true)
    expect(await rowOf(response)).toMatchObject({ stream: true, input: 8, output: 0, outcome: 'done' })
  })

  test('that breaks off as sound where events were asked for ends in an error', async () => {
    const begun = gate()
    next = () => ({ ...sound(SOUND, begun), end: 'cut' })
    const response = await speak({ stream_format: 'sse' })
    let text = ''
    for await (const piece of response.body ?? []) {
      text += Buffer.from(piece).toString()
      if (text.includes('speech.audio.delta')) begun.open()
    }
    expect(text).toContain('event: error\n')
    expect(await rowOf(response)).toMatchObject({ input: 8, outcome: 'failed' })
  })

  test.each([
    [{ input: '' }, 'input'],
    [{ model: undefined }, 'model'],
    [{ stream_format: 'chunks' }, 'stream_format'],
  ])('with %j is refused', async (more, param) => {
    expect(await errorOf(await speak(more))).toMatchObject({ status: 400, code: 'invalid_request', param })
  })

  test('needs a key with tokens for all of it', async () => {
    const { secret } = await gateway.issue({ tokensTotal: 7 })
    next = () => sound(SOUND)
    await (await speak({}, { authorization: `Bearer ${secret}` })).arrayBuffer()
    const error = await errorOf(await speak({}, { authorization: `Bearer ${secret}` }))
    expect(error).toMatchObject({ status: 402, code: 'quota_exhausted' })
  })
})

/** A second of it is 32,000 bytes. */
const wave = (seconds: number): Uint8Array => {
  const bytes = Buffer.alloc(44 + seconds * 32_000)
  bytes.write('RIFF....WAVEfmt ', 0, 'latin1')
  bytes.writeUInt32LE(32_000, 28)
  return bytes
}
const hear = (fields: Record<string, string> = {}, path = 'transcriptions', headers: Record<string, string> = {}) => {
  const form = new FormData()
  form.append('file', new Blob([wave(6)], { type: 'audio/wav' }), 'ein Satz.wav')
  for (const [name, value] of Object.entries({ model: 'scribe', ...fields })) form.append(name, value)
  return fetch(`${gateway.url}/v1/audio/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.secret}`, ...headers },
    body: form,
  })
}
const json = (body: object): Script => ({
  headers: { 'content-type': 'application/json' },
  steps: [JSON.stringify(body)],
})

describe('a transcript', () => {
  test.each([
    ['tokens', { usage: { type: 'tokens', input_tokens: 61, output_tokens: 9, total_tokens: 70 } }, [61, 9], false],
    [
      'tokens that only the total holds',
      { usage: { prompt_tokens: 4, completion_tokens: 9, total_tokens: 70 } },
      [61, 9],
      false,
    ],
    ['seconds', { usage: { type: 'duration', seconds: 5.2 } }, [104, 0], false],
    [
      'seconds of its own beside tokens',
      { usage: { prompt_audio_seconds: 6, prompt_tokens: 4, completion_tokens: 9, total_tokens: 88 } },
      [120, 0],
      false,
    ],
    ['a length', { duration: 5.5 }, [110, 0], false],
    ['a length in words', { duration: '5.5' }, [110, 0], false],
    ['nothing', {}, [121, 2], true],
    ['that it took nothing', { usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } }, [121, 2], true],
    ['nonsense', { usage: { type: 'duration', seconds: -1 } }, [121, 2], true],
  ] as const)('whose answer tells %s is billed so', async (_, more, [input, output], estimated) => {
    next = () => json({ text: 'A lock', ...more })
    const response = await hear()
    expect(await response.json()).toEqual({ text: 'A lock', ...more })
    expect(await rowOf(response)).toMatchObject({ wire: 'audio', input, output, estimated, outcome: 'done' })
  })

  test.each(['text', 'srt', 'vtt'])('in the format %s passes as text', async (response_format) => {
    next = () => ({ headers: { 'content-type': 'text/html' }, steps: ['1\n00:00:00,000 --> 00:00:01,000\nA lock\n'] })
    const response = await hear({ response_format })
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await response.text()).toBe('1\n00:00:00,000 --> 00:00:01,000\nA lock\n')
    expect(await rowOf(response)).toMatchObject({ input: 121, estimated: true, outcome: 'done' })
  })

  test.each([
    ['text', { steps: ['<!doctype html><p>provider text'] }],
    ['text', json({ error: { message: 'provider text' } })],
    ['json', { steps: ['A lock'] }],
    ['json', json({ words: [] })],
  ] as const)('in the format %s that is none fails', async (response_format, script) => {
    next = () => script
    expect(await errorOf(await hear({ response_format }))).toMatchObject({ status: 502, code: 'upstream_error' })
  })

  const usage = { type: 'tokens', input_tokens: 61, output_tokens: 9, total_tokens: 70 }
  const frames = (...events: (object | string)[]): Script => ({
    headers: { 'content-type': 'text/event-stream' },
    steps: events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`),
  })
  test.each([
    [
      'as events',
      frames(
        { type: 'transcript.text.delta', delta: 'A lock' },
        { type: 'transcript.text.done', text: 'A lock', usage },
      ),
    ],
    [
      'in chunks as of a chat',
      frames({ model: 'up-scribe', choices: [{ delta: { content: 'A lock' } }] }, { choices: [], usage }, '[DONE]'),
    ],
    ['that came whole', json({ text: 'A lock', usage })],
  ])('streams %s, and is billed', async (_, script) => {
    next = () => script
    const response = await hear({ stream: 'true' })
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    const text = await response.text()
    expect(text).toContain('A lock')
    expect(text).not.toContain('up-scribe')
    expect(await rowOf(response)).toMatchObject({
      stream: true,
      input: 61,
      output: 9,
      estimated: false,
      outcome: 'done',
    })
  })

  test('that streams as transcripts of its pieces, without an end, has the events of its wire', async () => {
    next = () => frames({ text: 'A lock', duration: 5.5 }, { text: ' on a canal', duration: 5.5 })
    const response = await hear({ stream: 'true' })
    expect(framesIn(await response.text()).map(({ data }) => JSON.parse(data))).toEqual([
      { text: 'A lock', duration: 5.5, type: 'transcript.text.delta', delta: 'A lock' },
      { text: ' on a canal', duration: 5.5, type: 'transcript.text.delta', delta: ' on a canal' },
      { type: 'transcript.text.done', text: 'A lock on a canal' },
    ])
    expect(await rowOf(response)).toMatchObject({ input: 110, output: 0, estimated: false, outcome: 'done' })
  })

  test.each<[string, string, string[]]>([
    ['as chats do', 'data: {"text":"A lock"}\n\ndata: [DONE]\n\n', ['delta', 'done']],
    [
      'by an event that names itself alone',
      'data: {"text":"A lock"}\n\nevent: transcript.text.done\ndata: {"text":"A lock"}\n\n',
      ['delta', ''],
    ],
  ])('that streams as transcripts of its pieces and ends %s has one end', async (_, text, types) => {
    next = () => ({ headers: { 'content-type': 'text/event-stream' }, steps: [text] })
    const response = await hear({ stream: 'true' })
    const events = framesIn(await response.text()).flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data)]))
    expect(events.map(({ type }) => (type ?? '').split('.').at(-1))).toEqual(types)
    expect(events.at(-1)).toMatchObject({ text: 'A lock' })
    expect((await rowOf(response))?.outcome).toBe('done')
  })

  test('whose stream breaks off ends in an error, and is billed by what has come', async () => {
    const begun = gate()
    const { steps = [], ...rest } = frames({ type: 'transcript.text.delta', delta: 'A lock' })
    next = () => ({ ...rest, steps: [...(steps as string[]), begun], end: 'cut' })
    const response = await hear({ stream: 'true' })
    let text = ''
    for await (const piece of response.body ?? []) {
      text += Buffer.from(piece).toString()
      if (text.includes('A lock')) begun.open()
    }
    expect(text).toContain('event: error\n')
    expect(await rowOf(response)).toMatchObject({ outcome: 'failed', input: 121, output: 2, estimated: true })
  })

  test('of a translation streams where that is asked for, as some servers do', async () => {
    next = () => frames({ type: 'transcript.text.done', text: 'A lock', usage })
    const response = await hear({ stream: 'true' }, 'translations')
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    expect(await response.text()).toContain('A lock')
    expect(await rowOf(response)).toMatchObject({ stream: true, input: 61, output: 9, outcome: 'done' })
  })

  test('of a translation is asked for at its own address', async () => {
    next = () => json({ text: 'A lock' })
    expect((await hear({}, 'translations')).status).toBe(200)
    expect(provider.requests[0]?.path).toBe('/v1/audio/translations')
  })

  test('needs a model of its kind', async () => {
    const error = await errorOf(await hear({ model: 'voice' }))
    expect(error).toMatchObject({ status: 404, code: 'invalid_model' })
    expect(error.message).toContain('/v1/audio/speech')
  })

  test('is refused where the quota does not cover the sound', async () => {
    const { secret } = await gateway.issue({ tokensTotal: 100 })
    const error = await errorOf(await hear({}, 'transcriptions', { authorization: `Bearer ${secret}` }))
    expect(error).toMatchObject({ status: 402, code: 'quota_exhausted' })
    expect(provider.requests).toEqual([])
  })
})
