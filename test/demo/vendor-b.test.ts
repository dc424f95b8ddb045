// The demo vendor of the chat-completions, responses and images wires: what it refuses and answers.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type DemoProviders, startDemoProviders } from '../../src/demo/index.ts'
import type { JsonObject } from '../../src/ir/json.ts'
import { hasCorpus, violations } from '../support/corpus.ts'
import { ask, at, saying, toolFor } from './support.ts'

let demo: DemoProviders
beforeAll(async () => {
  demo = await startDemoProviders()
})
afterAll(() => demo.stop())

const CHAT = '/v1/chat/completions'
const RESPONSES = '/v1/responses'
const IMAGES = '/v1/images/generations'
const weather = { type: 'object', properties: { location: { type: 'string' } } }

const chat = (...messages: object[]): object => ({ model: 'm', messages })
const user = { role: 'user', content: 'x' }
const calling = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
}
const input = (...items: object[]): object => ({ model: 'm', input: items })

describe('the credential', () => {
  test.each([
    ['a wrong key', { authorization: 'Bearer nope' }, 'invalid_api_key'],
    ['no key', { authorization: '' }, null],
  ])('%s is refused', async (_, headers, code) => {
    const answer = await ask(demo, CHAT, saying(CHAT, 'hi'), headers)
    expect([answer.status, at(answer.body, 'error', 'code')]).toEqual([401, code])
  })
})

describe('a request the vendor refuses', () => {
  test.each<[string, typeof CHAT | typeof RESPONSES | typeof IMAGES, object | string, string, string | null]>([
    ['broken JSON', CHAT, '{', 'could not parse', null],
    ['no model', CHAT, { messages: [user] }, 'must provide a model', null],
    ['no messages', CHAT, chat(), "Invalid 'messages': empty array", 'messages'],
    [
      'a tool message without its call',
      CHAT,
      chat(user, { role: 'tool', tool_call_id: 'c1', content: 'y' }),
      "messages with role 'tool' must be a response",
      'messages.[1].role',
    ],
    [
      'a call without its tool message',
      CHAT,
      chat(user, calling, user),
      'did not have response messages: c1',
      'messages.[2].role',
    ],
    ['a call as the last turn', CHAT, chat(user, calling), 'did not have response messages: c1', 'messages.[2].role'],
    [
      'a broken picture',
      CHAT,
      chat({ role: 'user', content: [{ type: 'image_url', image_url: { url: 'iVBOR' } }] }),
      'Invalid image URL',
      'messages.[0].content',
    ],
    [
      'two token limits',
      CHAT,
      { ...chat(user), max_tokens: 1, max_completion_tokens: 1 },
      'at the same time',
      'max_tokens',
    ],
    [
      'stream options without a stream',
      CHAT,
      { ...chat(user), stream_options: {} },
      "only allowed when 'stream'",
      'stream_options',
    ],
    [
      'an output without its call',
      RESPONSES,
      input({ type: 'function_call_output', call_id: 'c1', output: 'y' }),
      'No tool call found for function call output with call_id c1',
      'input',
    ],
    [
      'a call without its output',
      RESPONSES,
      input({ role: 'user', content: 'x' }, { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' }),
      'No tool output found for function call c1',
      'input',
    ],
    [
      'foreign encrypted reasoning',
      RESPONSES,
      input(
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAABx' },
        { role: 'assistant', content: 'y' },
      ),
      'could not be verified',
      null,
    ],
    [
      'reasoning it did not keep',
      RESPONSES,
      input({ type: 'reasoning', id: 'rs_1', summary: [] }, { role: 'assistant', content: 'y' }),
      "Item with id 'rs_1' not found",
      'input',
    ],
    [
      'an unknown response before',
      RESPONSES,
      { model: 'm', input: 'x', previous_response_id: 'resp_1' },
      'not found',
      'previous_response_id',
    ],
    [
      'input parts of the assistant',
      RESPONSES,
      input({ role: 'user', content: [{ type: 'output_text', text: 'x' }] }),
      "Invalid value: 'output_text'",
      'input[0].content[0]',
    ],
    [
      'a token limit too small',
      RESPONSES,
      { model: 'm', input: 'x', max_output_tokens: 3 },
      '>= 16',
      'max_output_tokens',
    ],
    [
      'a picture format it does not know',
      IMAGES,
      { model: 'image-demo', prompt: 'x', response_format: 'url' },
      "Unknown parameter: 'response_format'",
      'response_format',
    ],
    ['an impossible size', IMAGES, { model: 'image-demo', prompt: 'x', size: '9x9' }, "Invalid value: '9x9'", 'size'],
    ['no prompt', IMAGES, { model: 'image-demo' }, "Missing required parameter: 'prompt'", 'prompt'],
  ])('%s', async (_, path, body, words, param) => {
    const answer = await ask(demo, path, body)
    expect([answer.status === 400 || answer.status === 404, at(answer.body, 'error', 'param')]).toEqual([true, param])
    expect(String(at(answer.body, 'error', 'message'))).toContain(words)
    expect(Object.keys(at(answer.body, 'error') as object).sort()).toEqual(['code', 'message', 'param', 'type'])
  })
})

describe('chat-completions', () => {
  test('quotes what the tools answered', async () => {
    const { text } = await ask(
      demo,
      CHAT,
      chat(user, calling, { role: 'tool', tool_call_id: 'c1', content: 'rain at noon' }),
    )
    expect(text).toContain('The tool answered: rain at noon')
  })

  test('stops before a stop sequence', async () => {
    const { body } = await ask(demo, CHAT, saying(CHAT, 'alpha STOP beta', { stop: 'STOP' }))
    expect([at(body, 'choices', 0, 'finish_reason'), at(body, 'choices', 0, 'message', 'content')]).toEqual([
      'stop',
      'Hello 👋 from a demo model. You said: “alpha ',
    ])
  })

  test('gives as many choices as asked for, and log probabilities', async () => {
    const asked = saying(CHAT, 'hi', { n: 3, logprobs: true })
    const { body } = await ask(demo, CHAT, asked)
    expect((body.choices as JsonObject[]).map(({ index }) => index)).toEqual([0, 1, 2])
    expect(at(body, 'choices', 0, 'logprobs', 'content', 0, 'token')).toBe('Hello')
    const { events } = await ask(demo, CHAT, { ...asked, stream: true })
    const finished = events.filter((event) => at(event, 'choices', 0, 'finish_reason') !== null)
    expect(finished.map((event) => at(event, 'choices', 0, 'index'))).toEqual([0, 1, 2])
  })

  test('calls a custom tool with free text', async () => {
    const tools = [{ type: 'custom', custom: { name: 'write_note' } }]
    const { body } = await ask(demo, CHAT, saying(CHAT, 'write_note about tea', { tools }))
    expect(at(body, 'choices', 0, 'message', 'tool_calls', 0)).toMatchObject({
      type: 'custom',
      custom: { name: 'write_note', input: 'write_note about tea' },
    })
  })

  test('reads a prompt seen before from the cache where a cache key is given', async () => {
    const usage = async (more: object) =>
      at((await ask(demo, CHAT, saying(CHAT, 'one two three', more))).body, 'usage', 'prompt_tokens_details')
    expect(await usage({ prompt_cache_key: 'k' })).toMatchObject({ cached_tokens: 0, cache_write_tokens: 3 })
    expect(await usage({ prompt_cache_key: 'k' })).toMatchObject({ cached_tokens: 3 })
    expect(await usage({ prompt_cache_key: 'other' })).toMatchObject({ cached_tokens: 0 })
    expect(await usage({})).toEqual({ cached_tokens: 0, audio_tokens: 0 })
  })

  test('reasons out of sight and counts it', async () => {
    const { body, text } = await ask(demo, CHAT, saying(CHAT, 'hi', { reasoning_effort: 'low' }))
    expect(at(body, 'usage', 'completion_tokens_details', 'reasoning_tokens')).toBeGreaterThan(0)
    expect(text).not.toContain('I should answer')
  })
})

describe('responses', () => {
  const reasoning = {
    reasoning: { effort: 'low', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    store: false,
  }
  const tools = [toolFor(RESPONSES, 'get_weather', weather)]

  test('takes its own encrypted reasoning back, without its id too, and refuses it changed', async () => {
    const first = await ask(demo, RESPONSES, saying(RESPONSES, 'weather in Paris', { ...reasoning, tools }))
    const output = first.body.output as JsonObject[]
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'function_call'])
    const result = { type: 'function_call_output', call_id: output[1]?.call_id, output: 'rain' }
    const next = (items: JsonObject[]) => ({
      model: 'm',
      tools,
      ...reasoning,
      input: [{ role: 'user', content: 'x' }, ...items, result],
    })
    const second = await ask(demo, RESPONSES, next(output))
    expect([second.status, second.text.includes('The tool answered: rain')]).toEqual([200, true])
    const [thought = {}, call = {}] = output
    const { id: _, ...unnamed } = thought
    expect((await ask(demo, RESPONSES, next([unnamed, call]))).status).toBe(200)
    for (const changed of [
      { ...thought, encrypted_content: `${thought.encrypted_content}AAAA` },
      { ...unnamed, encrypted_content: `${thought.encrypted_content}AAAA` },
      { ...thought, id: 'rs_other' },
    ]) {
      expect((await ask(demo, RESPONSES, next([changed, call]))).status).toBe(400)
    }
    const alone = await ask(demo, RESPONSES, { model: 'm', input: [thought, { role: 'user', content: 'x' }] })
    expect([alone.status, alone.text]).toEqual([400, expect.stringContaining('without its required following item')])
  })

  test('goes on from a response it kept, and not from one it was told not to keep', async () => {
    const first = await ask(demo, RESPONSES, saying(RESPONSES, 'weather in Paris', { tools }))
    const next = (previous: unknown, call: unknown) => ({
      model: 'm',
      previous_response_id: previous,
      input: [{ type: 'function_call_output', call_id: call, output: 'snow' }],
    })
    const second = await ask(demo, RESPONSES, next(first.body.id, at(first.body, 'output', 0, 'call_id')))
    expect([second.status, second.text.includes('snow')]).toEqual([200, true])
    const unkept = await ask(demo, RESPONSES, saying(RESPONSES, 'weather in Paris', { tools, store: false }))
    const third = await ask(demo, RESPONSES, next(unkept.body.id, at(unkept.body, 'output', 0, 'call_id')))
    expect(at(third.body, 'error', 'code')).toBe('previous_response_not_found')
  })

  test('calls custom tools and tools in a namespace', async () => {
    const declared = [
      { type: 'custom', name: 'apply_patch' },
      {
        type: 'namespace',
        name: 'files',
        description: 'files',
        tools: [toolFor(RESPONSES, 'read_file', { type: 'object', properties: {} })],
      },
    ]
    const { body } = await ask(demo, RESPONSES, saying(RESPONSES, 'apply_patch then read_file', { tools: declared }))
    expect(body.output).toMatchObject([
      { type: 'custom_tool_call', name: 'apply_patch', input: 'apply_patch then read_file' },
      { type: 'function_call', name: 'read_file', namespace: 'files', arguments: '{}' },
    ])
  })

  test('is incomplete at the token limit', async () => {
    const { body } = await ask(demo, RESPONSES, saying(RESPONSES, '[[long:40]]', { max_output_tokens: 16 }))
    expect([body.status, at(body, 'incomplete_details', 'reason'), at(body, 'usage', 'output_tokens')]).toEqual([
      'incomplete',
      'max_output_tokens',
      16,
    ])
  })

  test('echoes what the request set', async () => {
    const set = { instructions: 'be kind', metadata: { a: 'b' }, temperature: 0.5, prompt_cache_key: 'k', user: 'u' }
    expect((await ask(demo, RESPONSES, saying(RESPONSES, 'hi', set))).body).toMatchObject(set)
  })
})

describe('images', () => {
  test('draws pictures of the size asked for, with usage', async () => {
    const { status, body } = await ask(
      demo,
      IMAGES,
      saying(IMAGES, 'a red kite', { size: '48x32', n: 2, quality: 'low' }),
    )
    expect([status, body.size, body.quality, body.output_format]).toEqual([200, '48x32', 'low', 'png'])
    const pictures = (body.data as JsonObject[]).map(({ b64_json }) => Buffer.from(String(b64_json), 'base64'))
    expect(pictures.map((png) => [png.readUInt32BE(16), png.readUInt32BE(20)])).toEqual([
      [48, 32],
      [48, 32],
    ])
    expect(pictures[0]?.equals(pictures[1] ?? Buffer.alloc(0))).toBe(false)
    expect(at(body, 'usage', 'input_tokens_details')).toEqual({ image_tokens: 0, text_tokens: 3 })
    expect(at(body, 'usage', 'output_tokens')).toBeGreaterThan(0)
  })

  test('takes a quality it does not know for the usual one', async () => {
    const { body } = await ask(demo, IMAGES, saying(IMAGES, 'x', { size: '1024x1024', quality: 'constructor' }))
    expect([body.quality, at(body, 'usage', 'output_tokens')]).toEqual(['medium', 1056])
  })

  test.skipIf(!hasCorpus)('answers as the published types say (skipped: no corpus beside the repository)', async () => {
    const { body } = await ask(demo, IMAGES, saying(IMAGES, 'x'))
    expect(violations('OpenAIImagesResponse.current', body)).toEqual([])
  })

  test('streams partial pictures, then the whole one with usage', async () => {
    const { frames, events } = await ask(demo, IMAGES, saying(IMAGES, 'a kite', { stream: true, partial_images: 2 }))
    expect(frames.map(({ event }) => event)).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ])
    expect(events.map(({ type }) => String(type))).toEqual(frames.map(({ event }) => String(event)))
    expect(events.map((event) => event.partial_image_index)).toEqual([0, 1, undefined])
    expect(at(events.at(-1), 'usage', 'total_tokens')).toBeGreaterThan(0)
  })

  test('gives an address where an older model is asked for one', async () => {
    const { body } = await ask(demo, IMAGES, saying(IMAGES, 'a kite', { model: 'imagegen-3', response_format: 'url' }))
    const picture = await fetch(String(at(body, 'data', 0, 'url')))
    expect(picture.headers.get('content-type')).toBe('image/png')
    expect(Buffer.from(await picture.arrayBuffer()).readUInt32BE(16)).toBe(32)
  })
})
