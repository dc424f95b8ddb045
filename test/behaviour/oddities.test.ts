// What a configuration says of a provider that speaks its wire oddly holds for clients of that wire, too: they are told
// what was left out.

import { beforeAll, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { type Scripted, startScripted } from '../support/provider/scripted.ts'
import { stopAfterAll } from '../support/stopping.ts'

const quirks = {
  maxTokensField: 'max_tokens' as const,
  noDeveloperRole: true,
  noDone: true,
  rejects: ['store', 'stream_options'],
}

const chunk = (choice: JsonObject, more: JsonObject = {}): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', created: 5, model: 'up', choices: [{ index: 0, ...choice }], ...more })}\n\n`
const answer = { id: 'chatcmpl-1', choices: [{ index: 0, message: { content: 'Hi.' }, finish_reason: 'stop' }] }

let provider: Scripted
let gateway: TestGateway
beforeAll(async () => {
  provider = await startScripted(({ text }) =>
    JSON.parse(text).stream === true
      ? {
          headers: { 'content-type': text.includes('call it JSON') ? 'application/json' : 'text/event-stream' },
          steps: [
            chunk({ delta: { content: 'Hi.' } }),
            ...(text.includes('cut it off')
              ? []
              : [chunk({ delta: {}, finish_reason: 'stop', usage: { prompt_tokens: 3, completion_tokens: 2 } })]),
          ],
        }
      : { steps: [JSON.stringify(answer)] },
  )
  gateway = await startGateway({
    config: onlyProvider(`${provider.origin}/v1`, { wires: ['chat-completions'], quirks }),
  })
})
stopAfterAll(() => [gateway, provider])

const asked = {
  model: 'vendorB-4o',
  store: false,
  max_completion_tokens: 9,
  messages: [
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ],
}
const sent = {
  model: 'vendorB-4o',
  max_tokens: 9,
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ],
}

test.each([false, true])('a passed body contains no member the provider refuses, streaming %p', async (stream) => {
  const response = await gateway.post('/v1/chat/completions', { ...asked, stream })
  expect([response.status, response.headers.get('x-gateway-dropped')]).toEqual([200, 'store'])
  expect(await response.text()).toContain('Hi.')
  expect(JSON.parse(provider.requests.at(-1)?.text ?? '')).toEqual({ ...sent, stream })
})

test('a stream is recognised whatever its content type', async () => {
  for (const [path, more] of [
    ['/v1/chat/completions', {}],
    ['/v1/messages', { max_tokens: 9 }],
  ] as const) {
    const messages = [{ role: 'user', content: 'call it JSON' }]
    const response = await gateway.post(path, { model: 'vendorB-4o', stream: true, messages, ...more })
    const text = await response.text()
    expect([response.status, text.includes('Hi.'), text.includes('event: error')]).toEqual([200, true, false])
  }
})

test('a stream without [DONE] is complete if it has a finish reason, for clients of every wire', async () => {
  const ask = (path: string, content: string, more: JsonObject) =>
    gateway
      .post(path, { model: 'vendorB-4o', stream: true, messages: [{ role: 'user', content }], ...more })
      .then((response) => response.text())
  for (const [path, more, end] of [
    ['/v1/chat/completions', {}, 'data: [DONE]\n\n'],
    ['/v1/messages', { max_tokens: 9 }, 'data: {"type":"message_stop"}\n\n'],
  ] as const) {
    const whole = await ask(path, 'Hi', more)
    expect([whole.endsWith(end), whole.includes('event: error')]).toEqual([true, false])
    const cut = await ask(path, 'cut it off', more)
    expect([cut.includes(end), cut.includes('event: error')]).toEqual([false, true])
  }
})

test('what a client has left out fills neither header nor record, however much it is', async () => {
  const members = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`member_${at}`, 1]))
  const long = { [`long_${'x'.repeat(10_000)}`]: 1 }
  const body = { model: 'vendorB-4o', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], ...long, ...members }
  const response = await gateway.post('/v1/messages', body)
  const told = response.headers.get('x-gateway-dropped') ?? ''
  expect([response.status, told.length < 4_100]).toEqual([200, true])
  expect(told).toMatch(/^long_x+, member_0, member_1, .*, and \d+ more$/)
  await gateway.idle()
  expect((await gateway.server.gateway.store.exchanges({ limit: 1 }))[0]?.dropped?.join(', ')).toBe(told)
})

test('clients of another wire get no dropped paths that they never sent', async () => {
  const body = { model: 'vendorB-4o', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'Hi' }] }
  const response = await gateway.post('/v1/messages', body)
  expect([response.status, response.headers.get('x-gateway-dropped')]).toEqual([200, null])
  const text = await response.text()
  expect(text).toContain('"input_tokens":3')
  expect(JSON.parse(provider.requests.at(-1)?.text ?? '')).not.toHaveProperty('stream_options')
})

test('calls have ids of nine letters and digits where the provider takes no others, each with its result', async () => {
  const strict = await startGateway({
    config: onlyProvider(`${provider.origin}/v1`, { wires: ['chat-completions'], quirks: { shortCallIds: true } }),
  })
  type Sent = { tool_call_id?: string; tool_calls?: { id: string }[] }
  const idsSent = async (path: string, body: JsonObject) => {
    const response = await strict.post(path, { model: 'vendorB-4o', max_tokens: 9, ...body })
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Hi.')])
    const { messages } = JSON.parse(provider.requests.at(-1)?.text ?? '') as { messages: Sent[] }
    const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id))
    const results = messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]))
    expect(calls.filter((id) => !/^[a-zA-Z0-9]{9}$/.test(id))).toEqual([])
    expect(results).toEqual(calls)
    return calls
  }
  try {
    const long = `exec_${'x'.repeat(80)}`
    const given = ['toolu_01A09q90qw90lq917835lq9', 'call_1', 'aB3xK9mP2', `${long}_1`, `${long}_2`, 'functions.read:0']
    const spoken = { role: 'user', content: 'Read it. '.repeat(10_000) }
    const passing = [
      {
        role: 'assistant',
        tool_calls: given.map((id) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } })),
      },
      ...given.map((id) => ({ role: 'tool', tool_call_id: id, content: 'Done.' })),
    ]
    const crossing = [
      { role: 'assistant', content: given.map((id) => ({ type: 'tool_use', id, name: 'read', input: {} })) },
      { role: 'user', content: given.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'Done.' })) },
    ]
    const ids = await idsSent('/v1/chat/completions', { messages: passing })
    expect([new Set(ids).size, ids[2]]).toEqual([given.length, 'aB3xK9mP2'])
    expect(await idsSent('/v1/chat/completions', { messages: [spoken, ...passing] })).toEqual(ids)
    expect(await idsSent('/v1/messages', { messages: [spoken, ...crossing] })).toEqual(ids)
  } finally {
    await strict.stop()
  }
})

test('what the system says first is one message where the provider takes no more, however long it is', async () => {
  const strict = await startGateway({
    config: onlyProvider(`${provider.origin}/v1`, { wires: ['chat-completions'], quirks: { noMidSystem: true } }),
  })
  try {
    for (const said of ['Be brief.', 'Be bréf. '.repeat(8_000)]) {
      const system = [said, 'Be kind.'].map((content) => ({ role: 'system', content }))
      const one = { role: 'system', content: `${said}\n\nBe kind.` }
      const hi = { role: 'user', content: 'Hi' }
      for (const [path, body] of [
        ['/v1/chat/completions', { messages: [...system, hi] }],
        ['/v1/responses', { input: [...system, hi] }],
      ] as const) {
        expect((await strict.post(path, { model: 'vendorB-4o', ...body })).status).toBe(200)
        expect(JSON.parse(provider.requests.at(-1)?.text ?? '').messages).toEqual([one, hi])
      }
    }
  } finally {
    await strict.stop()
  }
})

test('of several items with one id, as agents write what another model has said, the first keeps it', async () => {
  const reader = await startScripted(() => ({
    steps: [JSON.stringify({ id: 'resp_1', object: 'response', status: 'completed', output: [] })],
  }))
  const strict = await startGateway({ config: onlyProvider(`${reader.origin}/v1`, { wires: ['responses'] }) })
  const said = (id: string) => ({ type: 'message', id, role: 'assistant', content: 'So.' })
  const reference = { type: 'item_reference', id: 'msg_6' }
  try {
    const input = [said('msg_6'), said('msg_6'), said('msg_7'), said('msg_6'), reference]
    expect((await strict.post('/v1/responses', { model: 'vendorB-5.5', input })).status).toBe(200)
    const sent = JSON.parse(reader.requests[0]?.text ?? '').input as JsonObject[]
    expect(sent.map(({ id }) => id)).toEqual(['msg_6', undefined, 'msg_7', undefined, 'msg_6'])
  } finally {
    await strict.stop()
    await reader.stop()
  }
})

test('ids of items that the wire does not take are left out, however long the conversation, and others stay', async () => {
  const reader = await startScripted(() => ({
    steps: [JSON.stringify({ id: 'resp_1', object: 'response', status: 'completed', output: [] })],
  }))
  const strict = await startGateway({ config: onlyProvider(`${reader.origin}/v1`, { wires: ['responses'] }) })
  const call = { call_id: 'call_1', name: 'patch' }
  const items: [string, JsonObject][] = [
    ['rs_', { type: 'reasoning', summary: [], encrypted_content: 'sealed' }],
    ['msg_', { role: 'assistant', content: 'So.' }],
    ['msg_', { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'So.' }] }],
    ['fc_', { type: 'function_call', ...call, arguments: '{}' }],
    ['fc_', { type: 'function_call_output', call_id: 'call_1', output: 'ok' }],
    ['ctc_', { type: 'custom_tool_call', ...call, input: 'x' }],
    ['ctco_', { type: 'custom_tool_call_output', call_id: 'call_1', output: 'ok' }],
    ['ws_', { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } }],
  ]
  const taken = (start: string) => ['1', '0123456789ab'.slice(start.length), '3-4_5', 'x'.repeat(64 - start.length)]
  const refused = (start: string) => [
    'x'.repeat(65 - start.length),
    'x'.repeat(413),
    `${'y+/'.repeat(130)}=`,
    'ä',
    '1 2',
  ]
  // Made by editors, relays and other servers.
  const made = [
    '',
    'thinking_0',
    'chatcmpl-5',
    'item_3bc5',
    'call_1',
    'msg-92Y7',
    '019f629b-43ee-7a82-acb1-3071dbffbdad',
  ]
  const referred = ['item_reference', 'local_shell_call', 'mcp_approval_request'].map((type) => ({
    type,
    id: 'x'.repeat(80),
  }))
  const every = items.flatMap(([start, item]) =>
    [...[...taken(start), ...refused(start)].map((end) => start + end), ...made].map((id) => ({ id, ...item })),
  )
  // The second message's ids are those of the first.
  const due = items.flatMap(([start, item], at) => [
    ...taken(start).map((end) => (at === 2 ? item : { id: start + end, ...item })),
    ...[...refused(start), ...made].map(() => item),
  ])
  try {
    for (const content of ['Read it.', 'Read it. '.repeat(10_000)]) {
      const input = [{ role: 'user', content }, ...every, ...referred]
      expect((await strict.post('/v1/responses', { model: 'vendorB-5.5', input })).status).toBe(200)
      const { input: sent } = JSON.parse(reader.requests.at(-1)?.text ?? '')
      expect(sent).toEqual([{ role: 'user', content }, ...due, ...referred])
    }
  } finally {
    await strict.stop()
    await reader.stop()
  }
})

test('an image request leaves out what its provider refuses, and lists it as dropped', async () => {
  const painter = await startScripted(() => ({ steps: [JSON.stringify({ created: 1, data: [{ b64_json: 'aGk=' }] })] }))
  const images = await startGateway({
    config: onlyProvider(`${painter.origin}/v1`, {
      wires: ['images'],
      quirks: { rejects: ['user', 'response_format'] },
    }),
  })
  const ask = async (more: JsonObject) => {
    const body = { model: 'vendorB-image-1', prompt: 'A kite' }
    const response = await images.post('/v1/images/generations', { ...body, ...more })
    expect([response.status, await response.json()]).toMatchObject([200, { data: [{ b64_json: 'aGk=' }] }])
    const { model: _, prompt: __, ...passed } = JSON.parse(painter.requests.at(-1)?.text ?? '')
    return [passed, response.headers.get('x-gateway-dropped')]
  }
  try {
    expect(await ask({ user: 'dara', n: 1 })).toEqual([{ n: 1 }, 'user'])
    // Asked for or not, it comes in this form.
    expect(await ask({ response_format: 'b64_json' })).toEqual([{}, null])
    expect(await ask({ response_format: 'url' })).toEqual([{ response_format: 'url' }, null])
  } finally {
    await images.stop()
    await painter.stop()
  }
})

test.each([false, true])(
  'a provider that reuses one answer id mixes no conversations, streaming %p',
  async (stream) => {
    const ask = async (body: JsonObject): Promise<string> => {
      const response = await gateway.post('/v1/responses', { model: 'vendorB-4o', stream, ...body })
      return /"id":"(resp_[^"]+)"/.exec(await response.text())?.[1] ?? ''
    }
    const one = await ask({ input: 'one' })
    expect(await ask({ input: 'two' })).not.toBe(one)
    await ask({ input: 'on', previous_response_id: one })
    const { messages } = JSON.parse(provider.requests.at(-1)?.text ?? '') as { messages: JsonObject[] }
    expect(messages.map(({ content }) => content)).toEqual(['one', 'Hi.', 'on'])
  },
)
