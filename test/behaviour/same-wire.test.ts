// Same wire: bytes pass. Every recording goes through a listening gateway to a provider that replays it.

import { beforeAll, describe, expect, test } from 'bun:test'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import type { Json, JsonObject } from '../../src/ir/json.ts'
import type { Frame } from '../../src/lib/sse.ts'
import { hasCorpus, type RecordedWire, type Recording, recordings } from '../support/corpus.ts'
import { framesOf } from '../support/frames.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type Script, type Scripted, slices, startScripted } from '../support/provider/scripted.ts'
import { stopAfterAll } from '../support/stopping.ts'

const PATHS: Record<RecordedWire, { path: string; model: string; upstream: string }> = {
  messages: { path: '/v1/messages', model: 'vendorA-opus-4-8', upstream: 'up-a' },
  'chat-completions': { path: '/v1/chat/completions', model: 'vendorB-5.5', upstream: 'up-b' },
  responses: { path: '/v1/responses', model: 'vendorB-5.5', upstream: 'up-b' },
  images: { path: '/v1/images/generations', model: 'vendorB-image-1', upstream: 'vendorB-image-1' },
}

const FALLBACK_REQUESTS: Record<RecordedWire, JsonObject> = {
  messages: { model: '', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] },
  'chat-completions': { model: '', messages: [{ role: 'user', content: 'hi' }] },
  responses: { model: '', input: 'hi' },
  images: { model: '', prompt: 'a lock' },
}

const parsed = (frames: Frame[]): unknown[] =>
  frames.map(({ event, data }) => ({ event, data: data === '[DONE]' ? data : JSON.parse(data) }))

/** The request as the client would send it to us: the recorded bytes with our model's name. */
const requestFor = (recording: Recording): string => {
  const { model } = PATHS[recording.wire]
  const body: JsonObject = JSON.parse(recording.request ?? JSON.stringify(FALLBACK_REQUESTS[recording.wire]))
  body.model = model
  if (recording.stream) body.stream = true
  else delete body.stream
  return JSON.stringify(body, null, 1)
}

/** Sums a vendor's own figures the way its documentation says they add up. */
const vendorTotal = (wire: RecordedWire, usage: JsonObject): number => {
  const n = (value: Json | undefined): number => (typeof value === 'number' ? value : 0)
  if (wire === 'chat-completions') return n(usage.prompt_tokens) + n(usage.completion_tokens)
  if (wire !== 'messages') return n(usage.input_tokens) + n(usage.output_tokens)
  const own = (figures: JsonObject): number =>
    n(figures.input_tokens) +
    n(figures.cache_read_input_tokens) +
    n(figures.cache_creation_input_tokens) +
    n(figures.output_tokens)
  // Rounds beside the answer's own, such as a summary of the conversation, are billed and stand apart.
  const rounds = (Array.isArray(usage.iterations) ? usage.iterations : []) as JsonObject[]
  const beside = rounds.filter(({ type }) => type !== 'message' && type !== 'fallback_message')
  return beside.reduce((sum, round) => sum + own(round), own(usage))
}

const recordedUsage = ({ wire, stream, response }: Recording): JsonObject | undefined => {
  if (!stream) return JSON.parse(response).usage ?? undefined
  let usage: JsonObject | undefined
  for (const { data } of framesOf(response)) {
    if (data === '[DONE]') continue
    const event = JSON.parse(data)
    const found = event.message?.usage ?? event.response?.usage ?? event.usage
    if (found) usage = { ...usage, ...found }
  }
  return wire === 'images' ? undefined : usage
}

/** What must be true of a stream's end for the recording to be whole. */
const isWhole = ({ wire, response }: Recording): boolean => {
  const last = framesOf(response).at(-1)
  if (wire === 'chat-completions') return last?.data === '[DONE]'
  if (wire === 'messages') return last?.event === 'message_stop'
  return last?.event === 'response.completed' || last?.event === 'response.incomplete'
}

/** The recording as it would read had the model been ours, and usage shown only if asked for. */
const expectedFrames = (recording: Recording, sent: JsonObject): unknown[] => {
  const { model } = PATHS[recording.wire]
  const options = sent.stream_options as JsonObject | undefined
  return parsed(framesOf(recording.response)).flatMap((frame) => {
    const { event, data } = frame as { event: string | undefined; data: JsonObject | '[DONE]' }
    if (data === '[DONE]') return [frame]
    for (const holder of [data, data.message, data.response] as (JsonObject | undefined)[]) {
      if (holder && typeof holder === 'object' && typeof holder.model === 'string') holder.model = model
    }
    if (recording.wire === 'chat-completions' && options?.include_usage !== true && 'usage' in data) {
      if (data.usage !== null && Array.isArray(data.choices) && data.choices.length === 0) return []
      delete data.usage
    }
    return [{ event, data }]
  })
}

describe.skipIf(!hasCorpus)('recordings pass a provider of their own wire unchanged', () => {
  let script: Script = {}
  let provider: Scripted
  let gateway: TestGateway

  beforeAll(async () => {
    provider = await startScripted(() => script)
    const renamed: Record<string, string> = { 'vendorA-opus-4-8': 'up-a', 'vendorB-5.5': 'up-b' }
    const models = BUILTIN_MODELS.map((model) => ({ ...model, upstream: renamed[model.id] ?? model.upstream }))
    gateway = await startGateway({
      vendorA: provider.origin,
      vendorB: `${provider.origin}/v1`,
      config: { models },
    })
  })
  stopAfterAll(() => [gateway, provider])

  for (const wire of ['messages', 'chat-completions', 'responses', 'images'] as const) {
    const all = recordings(wire).filter(({ status }) => status === 200)

    test.each(all.map((recording) => [recording.name, recording] as const))(`${wire}: %s`, async (_, recording) => {
      const { path, model, upstream } = PATHS[wire]
      const bytes = new TextEncoder().encode(recording.response)
      script = {
        headers: { 'content-type': recording.stream ? 'text/event-stream' : 'application/json' },
        steps: slices(bytes, recording.stream ? 777 : Number.POSITIVE_INFINITY),
      }
      const text = requestFor(recording)
      // The gateway polls the answers of earlier recordings that go on in the background.
      const asked = provider.next(({ method }) => method === 'POST')
      const response = await gateway.post(path, text)
      const answer = await response.text()
      await gateway.idle()

      const arrived = await asked
      const sent = JSON.parse(arrived.text) as JsonObject
      const client = JSON.parse(text) as JsonObject
      if (wire !== 'chat-completions' || !recording.stream) {
        expect(arrived.text).toBe(text.replace(JSON.stringify(model), JSON.stringify(upstream)))
      } else {
        expect(sent).toEqual({
          ...client,
          model: upstream,
          stream_options: { ...(client.stream_options as JsonObject), include_usage: true },
        })
      }

      const body = recording.stream ? undefined : (JSON.parse(recording.response) as JsonObject)
      if (body?.error) {
        expect(response.headers.get('x-gateway-error-code')).not.toBeNull()
        expect(answer).not.toContain((body.error as JsonObject).message as string)
        return
      }
      expect(response.status).toBe(200)
      if (body) {
        const old = JSON.stringify(body.model)
        const pattern = new RegExp(`("model"\\s*:\\s*)${old?.replace(/[.*+?^$()|[\]{}\\]/g, '\\$&')}`)
        expect(answer).toBe(
          body.model === undefined
            ? recording.response
            : recording.response.replace(pattern, `$1${JSON.stringify(model)}`),
        )
      } else if (isWhole(recording)) {
        expect(parsed(framesOf(answer))).toEqual(expectedFrames(recording, client))
      } else {
        expect(answer).toContain('event: error')
      }

      const [row] = await gateway.server.gateway.store.exchanges({
        limit: 1,
        id: response.headers.get('x-request-id') ?? '',
      })
      const usage = recordedUsage(recording)
      if (usage !== undefined && (!recording.stream || isWhole(recording))) {
        const total = (row?.input ?? 0) + (row?.cacheRead ?? 0) + (row?.cacheWrite ?? 0) + (row?.output ?? 0)
        const told = vendorTotal(wire, usage)
        // Zeros for an answer with text are no figures: the tokenizer's count stands.
        if (told === 0) expect(total).toBeGreaterThan(0)
        else expect(total).toBe(told)
        expect(row?.estimated).toBe(told === 0)
      } else if (body?.status === 'queued') {
        // Nobody knows yet: it goes on in the background.
        expect(row?.outcome).toBeNull()
      } else if (wire !== 'images') {
        expect(row?.estimated).toBe(true)
      }
    })
  }
})
