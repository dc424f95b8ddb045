// The demo vendor of the messages wire: what it refuses and answers.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type DemoProviders, startDemoProviders } from '../../src/demo/index.ts'
import type { JsonObject } from '../../src/ir/json.ts'
import { ask, at, saying, toolFor } from './support.ts'

let demo: DemoProviders
beforeAll(async () => {
  demo = await startDemoProviders()
})
afterAll(() => demo.stop())

const PATH = '/v1/messages'
const tools = [toolFor(PATH, 'get_weather', { type: 'object', properties: { location: { type: 'string' } } })]
const messages = (...turns: [role: string, content: unknown][]): object => ({
  model: 'm',
  max_tokens: 100,
  tools,
  messages: turns.map(([role, content]) => ({ role, content })),
})
const call = (id: string): object => ({ type: 'tool_use', id, name: 'get_weather', input: { location: 'Paris' } })
const result = (id: string, content: unknown = 'sunny'): object => ({ type: 'tool_result', tool_use_id: id, content })

describe('the credential', () => {
  test.each([
    ['its own header', (key: string) => ({ 'x-api-key': key }), 200],
    ['a bearer token', (key: string) => ({ authorization: `Bearer ${key}` }), 200],
    ['no header', () => ({}), 401],
    ['a wrong key', (key: string) => ({ 'x-api-key': `${key}x` }), 401],
  ])('in %s is judged', async (_, credential, status) => {
    const answer = await fetch(`${demo.vendorA.baseUrl}${PATH}`, {
      method: 'POST',
      headers: { ...credential(demo.vendorA.apiKey), 'vendorA-version': '2023-06-01' },
      body: JSON.stringify(saying(PATH, 'hi')),
    })
    expect(answer.status).toBe(status)
  })

  test('is not enough without a version header', async () => {
    const answer = await fetch(`${demo.vendorA.baseUrl}${PATH}`, {
      method: 'POST',
      headers: { 'x-api-key': demo.vendorA.apiKey },
      body: JSON.stringify(saying(PATH, 'hi')),
    })
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining('anthropic-version: header is required'),
    ])
  })
})

describe('a request the vendor refuses', () => {
  const thinking = { type: 'enabled', budget_tokens: 1024 }
  test.each<[string, object | string, string]>([
    ['broken JSON', '{"model":', 'not valid JSON'],
    ['no model', { max_tokens: 1, messages: [] }, 'model: Field required'],
    ['no token limit', { model: 'm', messages: [] }, 'max_tokens: Field required'],
    ['no messages', messages(), 'at least one message is required'],
    ['an unknown role', messages(['tool', 'x']), "messages.0.role: Input should be 'user' or 'assistant'"],
    ['the assistant first', messages(['assistant', 'x']), 'first message must use'],
    ['empty text', messages(['user', '']), 'text content blocks must be non-empty'],
    [
      'a call without its result',
      messages(['user', 'x'], ['assistant', [call('t1')]], ['user', 'y']),
      'messages.1: `tool_use` ids were found without',
    ],
    [
      'a result after text',
      messages(['user', 'x'], ['assistant', [call('t1')]], ['user', [{ type: 'text', text: 'y' }, result('t1')]]),
      '`tool_use` ids were found without',
    ],
    ['a result without its call', messages(['user', [result('t9')]]), 'messages.0.content.0: unexpected `tool_use_id`'],
    [
      'one call id twice',
      messages(
        ['user', 'x'],
        ['assistant', [call('t1')]],
        ['user', [result('t1')]],
        ['assistant', [call('t1')]],
        ['user', [result('t1')]],
      ),
      'ids must be unique',
    ],
    [
      'a foreign signature',
      messages(['user', 'x'], ['assistant', [{ type: 'thinking', thinking: 'hm', signature: 'AAAA' }]], ['user', 'y']),
      'messages.1.content.0: Invalid `signature`',
    ],
    [
      'foreign redacted data',
      messages(['user', 'x'], ['assistant', [{ type: 'redacted_thinking', data: 'AAAA' }]], ['user', 'y']),
      'Invalid `data`',
    ],
    [
      'a data URL as base64',
      messages([
        'user',
        [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'data:image/png;base64,AAAA' } }],
      ]),
      'Invalid base64',
    ],
    [
      'thinking with a forced tool',
      { ...messages(['user', 'x']), max_tokens: 2000, thinking, tool_choice: { type: 'any' } },
      'Thinking may not be enabled',
    ],
    [
      'a budget above the limit',
      { ...messages(['user', 'x']), thinking },
      'must be greater than `thinking.budget_tokens`',
    ],
    [
      'a tool choice without tools',
      { ...messages(['user', 'x']), tools: [], tool_choice: { type: 'auto' } },
      'while providing tools',
    ],
    [
      'a choice of an unknown tool',
      { ...messages(['user', 'x']), tool_choice: { type: 'tool', name: 'z' } },
      "Tool 'z' not found",
    ],
    ['a temperature above one', { ...messages(['user', 'x']), temperature: 1.5 }, 'temperature: range: 0..1'],
  ])('%s', async (_, body, words) => {
    const answer = await ask(demo, PATH, body)
    expect([answer.status, at(answer.body, 'type'), at(answer.body, 'error', 'type')]).toEqual([
      400,
      'error',
      'invalid_request_error',
    ])
    expect(answer.text).toContain(JSON.stringify(words).slice(1, -1))
  })

  test('sampling parameters, by clients of the version that has none', async () => {
    const body = { ...messages(['user', 'x']), temperature: 1 }
    expect((await ask(demo, PATH, body)).status).toBe(200)
    const newer = await ask(demo, PATH, body, { 'anthropic-version': '2026-10-21' })
    expect([newer.status, newer.text]).toEqual([
      400,
      expect.stringContaining('temperature: Extra inputs are not permitted'),
    ])
  })

  test('a last call that no thinking opens, where thinking is demanded', async () => {
    const turns = messages(['user', 'x'], ['assistant', [call('t1')]], ['user', [result('t1')]])
    const answer = await ask(demo, PATH, { ...turns, max_tokens: 2000, thinking })
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('Expected `thinking`')])
  })
})

describe('a conversation', () => {
  test('takes back its own thinking, whole, omitted or redacted, and refuses it changed', async () => {
    for (const [text, more] of [
      ['weather in Paris', {}],
      ['weather in Paris', { display: 'omitted' }],
      ['weather [[redacted]]', {}],
    ] as const) {
      const settings = { max_tokens: 3000, tools, thinking: { type: 'enabled', budget_tokens: 1024, ...more } }
      const first = await ask(demo, PATH, saying(PATH, text, settings))
      const content = at(first.body, 'content') as JsonObject[]
      const id = String(content.find((block) => block.type === 'tool_use')?.id)
      const turns = (blocks: JsonObject[]) => ({
        ...saying(PATH, text, settings),
        messages: [
          { role: 'user', content: text },
          { role: 'assistant', content: blocks },
          { role: 'user', content: [result(id)] },
        ],
      })
      const second = await ask(demo, PATH, turns(content))
      expect([second.status, at(second.body, 'stop_reason')]).toEqual([200, 'end_turn'])
      expect(second.text).toContain('The tool answered: sunny')
      const [opening = {}, ...rest] = content
      const tampered =
        opening.type === 'thinking' ? { ...opening, thinking: 'other' } : { ...opening, data: `${opening.data}AAAA` }
      expect((await ask(demo, PATH, turns([tampered, ...rest]))).status).toBe(400)
    }
  })

  test('reads from the cache what an earlier one wrote up to its breakpoint', async () => {
    const system = [{ type: 'text', text: 'one two three four', cache_control: { type: 'ephemeral', ttl: '1h' } }]
    const usage = async (...texts: string[]) =>
      at(
        (
          await ask(
            demo,
            PATH,
            saying(PATH, 'x', {
              system,
              messages: texts.map((content, at) => ({ role: at % 2 ? 'assistant' : 'user', content })),
            }),
          )
        ).body,
        'usage',
      )
    expect(await usage('five six')).toMatchObject({
      input_tokens: 2,
      cache_creation_input_tokens: 4,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 4 },
      cache_read_input_tokens: 0,
    })
    expect(await usage('seven')).toMatchObject({
      input_tokens: 1,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 4,
    })
  })

  test('stops at a stop sequence and names it', async () => {
    const { body } = await ask(demo, PATH, saying(PATH, 'alpha STOP beta', { stop_sequences: ['NEVER', 'STOP'] }))
    expect([body.stop_reason, body.stop_sequence, at(body, 'content', 0, 'text')]).toEqual([
      'stop_sequence',
      'STOP',
      'Hello 👋 from a demo model. You said: “alpha ',
    ])
  })

  test('names pictures and documents by type and size', async () => {
    const data = Buffer.from('%PDF-1.4 demo').toString('base64')
    const content = [
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      { type: 'text', text: 'look' },
    ]
    const { text } = await ask(demo, PATH, messages(['user', content]))
    expect(text).toContain('application/pdf of 13 bytes')
    expect(text).toContain('image/* at https://example.com/a.png')
  })

  test('continues a thread by the id of the message before', async () => {
    const first = await ask(demo, PATH, saying(PATH, 'weather in Paris', { tools, thread: { type: 'create' } }))
    const use = (at(first.body, 'content') as JsonObject[]).find((block) => block.type === 'tool_use')
    const next = (id: unknown) => ({
      ...messages(['user', [result(String(use?.id))]]),
      thread: { type: 'continue', previous_message_id: id },
    })
    expect((await ask(demo, PATH, next(first.body.id))).status).toBe(200)
    expect((await ask(demo, PATH, next('msg_unknown'))).text).toContain('thread_not_found')
  })

  test('calls what is demanded, one at a time where parallel calls are off', async () => {
    const two = [...tools, toolFor(PATH, 'get_time', { type: 'object', properties: {} })]
    const names = async (more: object) =>
      (
        at(
          (await ask(demo, PATH, saying(PATH, 'get_weather and get_time now', { tools: two, ...more }))).body,
          'content',
        ) as JsonObject[]
      )
        .filter((block) => block.type === 'tool_use')
        .map((block) => block.name)
    expect(await names({})).toEqual(['get_weather', 'get_time'])
    expect(await names({ tool_choice: { type: 'auto', disable_parallel_tool_use: true } })).toEqual(['get_weather'])
    expect(await names({ tool_choice: { type: 'tool', name: 'get_time' } })).toEqual(['get_time'])
    expect(await names({ tool_choice: { type: 'none' } })).toEqual([])
  })

  test('is counted without being answered', async () => {
    const answer = await fetch(`${demo.vendorA.baseUrl}${PATH}/count_tokens`, {
      method: 'POST',
      headers: { 'x-api-key': demo.vendorA.apiKey, 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model: 'm', system: 'one two', messages: [{ role: 'user', content: 'three' }] }),
    })
    expect(await answer.json()).toEqual({ input_tokens: 3 })
  })
})

test('requests are recorded with their exact bytes, and not marked as left', async () => {
  const text = '{ "model":"m", "max_tokens": 5,"big": 12345678901234567890, "messages":[{"role":"user","content":"é"}]}'
  await ask(demo, PATH, text)
  const entry = demo.requests.at(-1)
  expect([entry?.vendor, entry?.wire, entry?.body, entry?.aborted]).toEqual(['vendor_a', 'messages', text, false])
})
