// Streams of the demo vendors, held to the wires' own rules.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { type DemoProviders, startDemoProviders } from '../../src/demo/index.ts'
import type { ChatWire } from '../../src/ir/wire.ts'
import type { Frame } from '../../src/lib/sse.ts'
import { checkChatCompletionsStream } from '../support/automaton/chat-completions.ts'
import { checkMessagesStream } from '../support/automaton/messages.ts'
import { checkResponsesStream } from '../support/automaton/responses.ts'
import { hasCorpus, SCHEMAS, violations } from '../support/corpus.ts'
import { STORIES, TEXT_PATHS, type TextPath } from './stories.ts'
import { ask, at, type DemoAnswer } from './support.ts'

let demo: DemoProviders
beforeAll(async () => {
  demo = await startDemoProviders()
})
afterAll(() => demo.stop())

const TABLE = TEXT_PATHS.flatMap((path) => STORIES.map((story) => ({ path, name: story.name, story })))

const WIRES: Record<TextPath, ChatWire> = {
  '/v1/messages': 'messages',
  '/v1/chat/completions': 'chat-completions',
  '/v1/responses': 'responses',
}

const streamed = (path: TextPath, request: object): Promise<DemoAnswer> => {
  const options = path === '/v1/chat/completions' ? { stream_options: { include_usage: true } } : {}
  return ask(demo, path, { ...request, stream: true, ...options })
}

describe.skipIf(!hasCorpus)('by the published types (skipped: no corpus beside the repository)', () => {
  test.each(TABLE)('$path answers "$name" as its clients expect', async ({ path, story }) => {
    const schemas = SCHEMAS[WIRES[path]]
    const whole = await ask(demo, path, story.request(path))
    expect([whole.status, violations(schemas.response, whole.body)]).toEqual([200, []])
    const { events } = await streamed(path, story.request(path))
    expect(events.filter(({ type }) => type !== 'ping').flatMap((event) => violations(schemas.event, event))).toEqual(
      [],
    )
  })
})

const AUTOMATA: Record<TextPath, (frames: Frame[]) => string[]> = {
  '/v1/messages': checkMessagesStream,
  '/v1/chat/completions': (frames) => checkChatCompletionsStream(frames, true),
  '/v1/responses': checkResponsesStream,
}

test.each(TABLE)('$path streams "$name" without breaking a rule of its wire', async ({ path, story }) => {
  const { frames } = await streamed(path, story.request(path))
  expect(AUTOMATA[path](frames)).toEqual([])
})

/** An answer without what differs from one answer to the next. */
const settled = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, inner) =>
      [
        'id',
        'call_id',
        'created',
        'created_at',
        'completed_at',
        'encrypted_content',
        'parsed',
        'parsed_arguments',
        'output_text',
        'output_parsed',
        'annotations',
        'index',
        '_request_id',
        'logprobs',
      ].includes(name)
        ? undefined
        : inner,
    ),
  )

describe('a stream read by its official client', () => {
  test.each(STORIES)('messages: "$name" adds up to the whole answer', async ({ request }) => {
    const client = new Anthropic({ apiKey: demo.vendorA.apiKey, baseURL: demo.vendorA.baseUrl })
    const asked = request('/v1/messages') as Anthropic.MessageStreamParams
    const folded = await client.messages.stream(asked).finalMessage()
    const { body } = await ask(demo, '/v1/messages', asked)
    expect(settled(folded)).toMatchObject(settled(body) as object)
  })

  test.each(STORIES)('chat-completions: "$name" adds up to the whole answer', async ({ request }) => {
    const client = new OpenAI({ apiKey: demo.vendorB.apiKey, baseURL: demo.vendorB.baseUrl })
    const asked = request('/v1/chat/completions') as OpenAI.ChatCompletionCreateParamsStreaming
    const folded = await client.chat.completions
      .stream({ ...asked, stream: true, stream_options: { include_usage: true } })
      .finalChatCompletion()
      // The helper throws away an answer that was cut short; the frames themselves are checked below.
      .catch((error: unknown) => (String(error).includes('length limit') ? undefined : Promise.reject(error)))
    const { body } = await ask(demo, '/v1/chat/completions', asked)
    if (folded === undefined) expect(at(body, 'choices', 0, 'finish_reason')).toBe('length')
    else expect(settled(folded)).toMatchObject(settled(body) as object)
  })

  test.each(STORIES)('responses: "$name" adds up to the whole answer', async ({ request }) => {
    const client = new OpenAI({ apiKey: demo.vendorB.apiKey, baseURL: demo.vendorB.baseUrl })
    const asked = request('/v1/responses') as OpenAI.Responses.ResponseCreateParamsStreaming
    const folded = await client.responses.stream({ ...asked, stream: true }).finalResponse()
    const { body } = await ask(demo, '/v1/responses', asked)
    expect(settled(folded)).toMatchObject(settled(body) as object)
  })
})

describe('the frames', () => {
  test.each(STORIES)('messages: "$name" keeps the order of its events', async ({ request }) => {
    const { frames, events } = await streamed('/v1/messages', request('/v1/messages'))
    expect(frames.map((frame) => frame.event)).toEqual(events.map((event) => String(event.type)))
    const letters = events
      .map(({ type }) =>
        String(type)
          .split('_')
          .map((word) => word[0])
          .join(''),
      )
      .join(' ')
    expect(letters).toMatch(/^ms (p |cbs (p )?(cbd )*cbs )+md ms$/)
    const indexes = events.filter(({ type }) => type === 'content_block_start').map(({ index }) => index)
    expect(indexes).toEqual(indexes.map((_, place) => place))
    expect(at(events.at(-2), 'usage', 'output_tokens')).toBeGreaterThanOrEqual(1)
  })

  test.each(STORIES)('chat-completions: "$name" says each thing once', async ({ request }) => {
    const { frames, events } = await streamed('/v1/chat/completions', request('/v1/chat/completions'))
    expect(frames.at(-1)).toEqual({ data: '[DONE]' })
    expect(frames.every((frame) => frame.event === undefined)).toBe(true)
    expect(new Set(events.map(({ id, model, created }) => `${id} ${model} ${created}`)).size).toBe(1)
    expect(events.map(({ usage }) => usage === null)).toEqual(events.map((_, place) => place < events.length - 1))
    expect(at(events.at(-1), 'choices')).toEqual([])
    const finishes = events.slice(0, -1).map((event) => at(event, 'choices', 0, 'finish_reason'))
    expect(finishes.filter((finish) => finish !== null)).toHaveLength(1)
    expect(finishes.at(-1)).not.toBeNull()
    const roles = events.slice(0, -1).map((event) => at(event, 'choices', 0, 'delta', 'role'))
    expect(roles.filter((role) => role !== undefined)).toEqual(['assistant'])
  })

  test('chat-completions: no usage is sent that was not asked for', async () => {
    const { text } = await ask(demo, '/v1/chat/completions', {
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(text).not.toContain('usage')
  })

  test.each(STORIES)('responses: "$name" is numbered and every item done', async ({ request }) => {
    const { frames, events } = await streamed('/v1/responses', request('/v1/responses'))
    expect(frames.map((frame) => frame.event)).toEqual(events.map((event) => String(event.type)))
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, place) => place))
    const types = events.map(({ type }) => String(type))
    expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress'])
    expect(['response.completed', 'response.incomplete']).toContain(types.at(-1) ?? '')
    const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)
    expect(at(events.at(-1), 'response', 'output')).toEqual(done)
    expect(types.filter((type) => type === 'response.output_item.added')).toHaveLength(done.length)
  })
})
