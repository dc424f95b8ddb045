// Bodies that pass to a provider of this wire: the edits that are spliced in, by the provider's quirks.

import { describe, expect, test } from 'bun:test'
import type { Json, JsonObject } from '../../../src/ir/json.ts'
import type { Quirks } from '../../../src/ir/quirks.ts'
import { splice } from '../../../src/lib/json-splice.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'

const { 'chat-completions': chat, messages, responses } = CHAT_CODECS
const turns = [{ role: 'user', content: 'Hi' }]

const sent = (body: JsonObject, quirks: Quirks, outputCap?: number, codec = chat): JsonObject =>
  JSON.parse(splice(JSON.stringify(body), codec.passEdits(body, { model: 'up', outputCap, quirks })))
const told = (body: JsonObject, quirks: Quirks, codec = chat): string[] =>
  codec
    .passEdits(body, { model: 'up', outputCap: undefined, quirks })
    .flatMap(({ lost, path }) => (lost ? [path.join('.')] : []))

test.each([chat, messages, responses])('a model member that occurs twice is replaced at both places', (codec) => {
  const body = '{"model":"other","model":"up","max_tokens":9}'
  const edits = codec.passEdits(JSON.parse(body), { model: 'up', outputCap: undefined, quirks: {} })
  expect(splice(body, edits)).toBe('{"model":"up","model":"up","max_tokens":9}')
})

test.each<[number | undefined, JsonObject, JsonObject]>([
  [undefined, { type: 'enabled', budget_tokens: 4_000 }, { type: 'enabled', budget_tokens: 4_000 }],
  [5_000, { type: 'enabled', budget_tokens: 4_000 }, { type: 'enabled', budget_tokens: 4_000 }],
  [4_000, { type: 'enabled', budget_tokens: 4_000 }, { type: 'enabled', budget_tokens: 3_999 }],
  [1_025, { type: 'enabled', budget_tokens: 4_000 }, { type: 'enabled', budget_tokens: 1_024 }],
  [1_024, { type: 'enabled', budget_tokens: 4_000 }, { type: 'disabled' }],
  [20, { type: 'adaptive' }, { type: 'adaptive' }],
])('with an output cap of %p, thinking %j becomes %j', (cap, thinking, due) => {
  expect(sent({ max_tokens: 9_000, thinking }, {}, cap, messages).thinking).toEqual(due)
})

describe('the output cap', () => {
  const own: Quirks = { maxTokensField: 'max_tokens' }
  test.each<[string, JsonObject, Quirks, number | undefined, JsonObject]>([
    ['passes as it is', { max_completion_tokens: 9 }, {}, undefined, { max_completion_tokens: 9 }],
    ['is lowered where it stands', { max_tokens: 9 }, {}, 5, { max_tokens: 5 }],
    ['is added under the wire’s own name', {}, {}, 5, { max_completion_tokens: 5 }],
    ['goes by the one name a provider knows', { max_completion_tokens: 9 }, own, undefined, { max_tokens: 9 }],
    ['is lowered under that name', { max_completion_tokens: 9 }, own, 5, { max_tokens: 5 }],
    ['is added under that name', {}, own, 5, { max_tokens: 5 }],
    ['is said once', { max_completion_tokens: 9, max_tokens: 9 }, own, undefined, { max_tokens: 9 }],
    ['stays away where there is none', {}, own, undefined, {}],
    [
      'goes by the newer name where a provider knows no other',
      { max_tokens: 9 },
      { maxTokensField: 'max_completion_tokens' },
      undefined,
      { max_completion_tokens: 9 },
    ],
  ])('%s', (_, asked, quirks, cap, due) => {
    expect(sent({ model: 'm', messages: turns, ...asked }, quirks, cap)).toEqual({
      model: 'up',
      messages: turns,
      ...due,
    })
  })
})

test('with no_mid_system, later system messages become the user’s', () => {
  const roles = ['developer', 'system', 'user', 'system', 'assistant', 'developer', 'user']
  const body = { model: 'm', messages: roles.map((role) => ({ role, content: role })) }
  const as = (quirks: Quirks) => (sent(body, quirks).messages as JsonObject[]).map(({ role }) => role)
  expect(as({ noMidSystem: true })).toEqual(['developer', 'user', 'user', 'assistant', 'user', 'user'])
  expect(as({ noMidSystem: true, noDeveloperRole: true })).toEqual([
    ...['system', 'user', 'user', 'assistant', 'user', 'user'],
  ])
  expect(as({ noDeveloperRole: true })).toEqual(['system', 'system', 'user', 'system', 'assistant', 'system', 'user'])
})

test('with no_mid_system, the system messages that begin a conversation become one', () => {
  const begun = (...contents: Json[]) => {
    const system = contents.map((content) => ({ role: 'system', content }))
    const body = { model: 'm', messages: [...system, { role: 'user', content: 'hi' }] }
    return (sent(body, { noMidSystem: true }).messages as JsonObject[]).map(({ content }) => content)
  }
  expect(begun('a')).toEqual(['a', 'hi'])
  expect(begun('a', 'b', 'c')).toEqual(['a\n\nb\n\nc', 'hi'])
  const part = { type: 'text', text: 'b' }
  expect(begun('a', [part])).toEqual([[{ type: 'text', text: 'a' }, part], 'hi'])
})

test('an empty list of parts, which vendor_b refuses, is an empty text', () => {
  const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }]
  const messages = [
    { role: 'system', content: [] },
    { role: 'user', content: [] },
    { role: 'assistant', content: [], tool_calls: calls },
    { role: 'tool', tool_call_id: 'a', content: [] },
    { role: 'assistant', content: [] },
    { role: 'user', content: [{ type: 'text', text: 'b' }] },
  ]
  const contents = (quirks: Quirks) =>
    (sent({ model: 'm', messages }, quirks).messages as JsonObject[]).map(({ content }) => content)
  const due = ['', '', null, '', '', [{ type: 'text', text: 'b' }]]
  expect(contents({})).toEqual(due)
  expect(contents({ noMidSystem: true })).toEqual(due)
  messages.unshift({ role: 'system', content: [] })
  expect(contents({ noMidSystem: true })).toEqual(due)
  expect(told({ model: 'm', messages }, {})).toEqual([])
})

describe('what a provider refuses', () => {
  test('is removed from a body that passes, and listed', () => {
    const body = { model: 'm', store: false, messages: turns, parallel_tool_calls: true, seed: 1 }
    const quirks = { rejects: ['store', 'parallel_tool_calls', 'user'] }
    expect(sent(body, quirks)).toEqual({ model: 'up', messages: turns, seed: 1 })
    expect(told(body, quirks)).toEqual(['store', 'parallel_tool_calls'])
  })

  test('is not added by the gateway either', () => {
    const quirks = { rejects: ['stream_options', 'max_completion_tokens'] }
    const body = { model: 'm', messages: turns, stream: true }
    expect(sent(body, quirks, 5)).toEqual({ model: 'up', messages: turns, stream: true })
    expect(told(body, quirks)).toEqual([])
    expect(sent({ ...body, stream_options: { include_obfuscation: false } }, quirks)).not.toHaveProperty(
      'stream_options',
    )
  })

  test('reasoning_content is removed from messages as well', () => {
    const thought = { role: 'assistant', reasoning_content: 'hm', content: 'a' }
    const foreign = {
      ...thought,
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'sluice.messages.e30' }],
    }
    const body = { model: 'm', messages: [...turns, thought, foreign, { role: 'user', content: 'b' }] }
    const quirks = { rejects: ['reasoning_content'] }
    const said = { role: 'assistant', content: 'a' }
    expect(sent(body, quirks).messages).toEqual([...turns, said, said, { role: 'user', content: 'b' }])
    expect(told(body, quirks)).toEqual(['messages.1.reasoning_content', 'messages.2.reasoning_content'])
    expect(sent(body, {}).messages).toEqual([...turns, thought, said, { role: 'user', content: 'b' }])
  })

  test('another wire’s thought is removed in every form in which its text comes back', () => {
    const entry = { type: 'reasoning.text', text: 'hm', signature: 'sluice.messages.e30' }
    const foreign = { role: 'assistant', content: 'a', reasoning: 'hm', reasoning_details: [entry] }
    const own = { ...foreign, reasoning_details: [{ ...entry, signature: 's' }] }
    const body = { model: 'm', messages: [...turns, foreign, own, { role: 'user', content: 'b' }] }
    const said = { role: 'assistant', content: 'a' }
    expect(sent(body, {}).messages).toEqual([...turns, said, own, { role: 'user', content: 'b' }])
  })

  test('is handled alike on the other wires', () => {
    const rejects = ['metadata', 'store']
    const asked = { model: 'm', max_tokens: 9, messages: turns, metadata: { user_id: 'u' } }
    expect(sent(asked, { rejects }, undefined, messages)).toEqual({ model: 'up', max_tokens: 9, messages: turns })
    expect(told(asked, { rejects }, messages)).toEqual(['metadata'])
    const body = { model: 'm', input: 'Hi', store: true }
    expect(sent(body, { rejects }, undefined, responses)).toEqual({ model: 'up', input: 'Hi' })
    expect(told(body, { rejects }, responses)).toEqual(['store'])
  })

  test('is empty where nothing is refused', () => {
    for (const codec of [chat, messages, responses]) expect(told({ model: 'm', store: true }, {}, codec)).toEqual([])
  })
})

test('with no_developer_role, the developer’s messages become the system’s', () => {
  const body = { model: 'm', messages: [{ role: 'developer', content: 'Be brief.' }, ...turns] }
  expect(sent(body, { noDeveloperRole: true }).messages).toEqual([{ role: 'system', content: 'Be brief.' }, ...turns])
  expect(sent(body, {}).messages).toEqual(body.messages)
  const asked = { model: 'm', input: body.messages }
  expect(sent(asked, { noDeveloperRole: true }, undefined, responses).input).toEqual([
    { role: 'system', content: 'Be brief.' },
    ...turns,
  ])
  const target = { model: 'up', maxOutput: 9, quirks: { noDeveloperRole: true } }
  const { input } = responses.encodeRequest(chat.decodeRequest(body), target).body
  expect(JSON.stringify(input)).not.toContain('developer')
})
