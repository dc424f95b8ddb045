// The official OpenAI SDK, unmodified, on the endpoints that are never translated.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import OpenAI, { toFile } from 'openai'
import { leaks, PIXEL, type Running, startGateway } from './support.ts'

const FILE = `
log: { level: silent }
models:
  embed-small: { provider: vendor_b, kind: embedding, upstream: text-embedding-3-small, price: { input: 0.02, output: 0 } }
  voice: { provider: vendor_b, kind: speech, upstream: tts-1, price: { input: 15, output: 0 } }
  scribe: { provider: vendor_b, kind: transcription, upstream: gpt-4o-transcribe, price: { input: 6, output: 10 } }
  scribe-old: { provider: vendor_b, kind: transcription, upstream: whisper-1, price: { input: 10, output: 0 } }
  moderation-latest: { provider: vendor_b, kind: moderation, upstream: omni-moderation-latest, price: { input: 0, output: 0 } }
`

let gateway: Running
let client: OpenAI
beforeAll(async () => {
  gateway = await startGateway(FILE)
  client = new OpenAI({ baseURL: gateway.v1, apiKey: gateway.key, maxRetries: 0 })
})
afterAll(() => gateway.stop())

test('embeds, in base64 as the SDK asks, or in numbers', async () => {
  const input = ['a lock on a canal', 'a bridge']
  const [packed, plain] = await Promise.all([
    client.embeddings.create({ model: 'embed-small', input, dimensions: 8 }),
    client.embeddings.create({ model: 'embed-small', input, dimensions: 8, encoding_format: 'float' }),
  ])
  expect(packed.model).toBe('embed-small')
  expect(packed.data.map(({ embedding }) => embedding.length)).toEqual([8, 8])
  expect(packed.data.map(({ embedding }) => Array.from(embedding))).toEqual(
    plain.data.map(({ embedding }) => embedding),
  )
  expect(packed.usage.prompt_tokens).toBeGreaterThan(0)
  expect(leaks(JSON.stringify(plain))).toEqual([])
})

test('moderates, with a model or without', async () => {
  const judged = await client.moderations.create({ model: 'moderation-latest', input: ['violence', 'a canal'] })
  expect(judged.results.map(({ flagged }) => flagged)).toEqual([true, false])
  expect((await client.moderations.create({ input: 'a canal' })).model).toBe('moderation-latest')
})

const picture = () => toFile(Buffer.from(PIXEL, 'base64'), 'ein Schloss.png', { type: 'image/png' })

test('edits and varies pictures', async () => {
  const model = 'vendorB-image-1'
  const image = [await picture(), await picture()]
  const edited = await client.images.edit({ model, image, prompt: 'bluer', size: '256x256' as never })
  expect(edited.data?.[0]?.b64_json).toStartWith('iVBOR')
  expect(edited.usage?.input_tokens).toBeGreaterThan(2 * 300)
  const varied = await client.images.createVariation({
    model: 'vendorB-imagegen-3',
    image: await picture(),
    n: 2,
    size: '256x256',
  })
  expect(varied.data).toHaveLength(2)
})

test('streams an edit', async () => {
  const stream = await client.images.edit({
    model: 'vendorB-image-1',
    image: await picture(),
    prompt: 'bluer',
    size: '256x256' as never,
    stream: true,
    partial_images: 1,
  })
  const types: string[] = []
  for await (const event of stream) types.push(event.type)
  expect(types).toEqual(['image_edit.partial_image', 'image_edit.completed'])
})

const sound = async () => {
  const spoken = await client.audio.speech.create({
    model: 'voice',
    voice: 'alloy',
    input: 'a lock on a canal',
    response_format: 'wav',
  })
  return toFile(await spoken.arrayBuffer(), 'ein Satz.wav', { type: 'audio/wav' })
}

test('speaks, as sound or as events', async () => {
  const asked = { model: 'voice', voice: 'alloy', input: 'a lock on a canal' } as const
  const spoken = await client.audio.speech.create(asked)
  expect(spoken.headers.get('content-type')).toBe('audio/wav')
  expect(Buffer.from(await spoken.arrayBuffer()).toString('latin1', 0, 4)).toBe('RIFF')
  const events = await client.audio.speech.create({ ...asked, stream_format: 'sse' })
  expect(events.headers.get('content-type')).toStartWith('text/event-stream')
  expect(await events.text()).toContain('"type":"speech.audio.done"')
})

test.each(['json', 'verbose_json'] as const)('transcribes to %s', async (response_format) => {
  const heard = await client.audio.transcriptions.create({ model: 'scribe', file: await sound(), response_format })
  expect(heard.text).toContain('A transcript')
  expect(leaks(JSON.stringify(heard))).toEqual([])
})

test.each(['text', 'srt', 'vtt'] as const)('transcribes to %s', async (response_format) => {
  const heard = await client.audio.transcriptions.create({ model: 'scribe-old', file: await sound(), response_format })
  expect(String(heard)).toContain('A transcript')
})

test.each(['scribe', 'scribe-old'])('streams a transcript of %s, which may not stream itself', async (model) => {
  const stream = await client.audio.transcriptions.create({ model, file: await sound(), stream: true })
  let text = ''
  let end: unknown
  for await (const event of stream) {
    if (event.type === 'transcript.text.delta') text += event.delta
    if (event.type === 'transcript.text.done') end = event.text
  }
  expect(text).toContain('A transcript')
  expect(end).toBe(text)
})

test('translates', async () => {
  expect((await client.audio.translations.create({ model: 'scribe-old', file: await sound() })).text).toContain(
    'A translation',
  )
})

test('reports a provider’s failure as the SDK’s own error', async () => {
  const failure = await client.embeddings
    .create({ model: 'embed-small', input: 'a [[error:500]]' })
    .catch((error) => error)
  expect(failure).toMatchObject({ status: 502, code: 'upstream_error' })
})
