// Histories whose calls and results have no ids: they are paired by their order, on every pair of wires.

import { expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'

const HISTORIES: Record<ChatWire, JsonObject> = {
  'chat-completions': {
    messages: [
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        content: null,
        tool_calls: ['one', 'two'].map((name) => ({ id: '', type: 'function', function: { name, arguments: '{}' } })),
      },
      { role: 'tool', tool_call_id: '', content: 'FIRST' },
      { role: 'tool', tool_call_id: '', content: 'SECOND' },
    ],
  },
  responses: {
    input: [
      { role: 'user', content: 'q' },
      ...['one', 'two'].map((name) => ({ type: 'function_call', call_id: '', name, arguments: '{}' })),
      ...['FIRST', 'SECOND'].map((output) => ({ type: 'function_call_output', call_id: '', output })),
    ],
  },
  messages: {
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: ['one', 'two'].map((name) => ({ type: 'tool_use', id: '', name, input: {} })) },
      {
        role: 'user',
        content: ['FIRST', 'SECOND'].map((content) => ({ type: 'tool_result', tool_use_id: '', content })),
      },
    ],
  },
}

/** The result of each call by its name. */
const pairsIn = (to: ChatWire, body: JsonObject): Record<string, unknown> => {
  const names = new Map<unknown, string>()
  const pairs: Record<string, unknown> = {}
  const see = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(see)
    if (typeof value !== 'object' || value === null) return
    const {
      type,
      id,
      call_id: callId,
      name,
      function: called,
      tool_use_id: used,
      tool_call_id: toolId,
    } = value as JsonObject
    const isCall = type === 'function' || type === 'tool_use' || type === 'function_call'
    if (isCall) names.set(callId ?? id, String(name ?? (called as JsonObject).name))
    const answers = used ?? toolId ?? (type === 'function_call_output' ? callId : undefined)
    if (answers !== undefined)
      pairs[names.get(answers) ?? 'none'] = (value as JsonObject).content ?? (value as JsonObject).output
    Object.values(value).forEach(see)
  }
  see(to === 'responses' ? body.input : body.messages)
  expect(new Set(names.keys()).size).toBe(names.size)
  expect([...names.keys()]).not.toContain('')
  return pairs
}

const WIRES = Object.keys(HISTORIES) as ChatWire[]

test.each(WIRES.flatMap((from) => WIRES.map((to) => [from, to] as const)))('from %s to %s', (from, to) => {
  const request = CHAT_CODECS[from].decodeRequest({ model: 'm', ...HISTORIES[from] })
  const { body } = CHAT_CODECS[to].encodeRequest(request, { model: 'up', maxOutput: 99, quirks: {} })
  expect(pairsIn(to, body)).toEqual({ one: 'FIRST', two: 'SECOND' })
})

const withoutEmpty = (body: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(body), (_, value) => (value === '' ? undefined : value)) as JsonObject

test.each(WIRES)('from chat-completions without ids, or with null, to %s', (to) => {
  const { messages } = HISTORIES['chat-completions'] as { messages: JsonObject[] }
  const nulls = JSON.parse(JSON.stringify(messages), (name, value) =>
    name === 'tool_call_id' ? null : value,
  ) as JsonObject[]
  for (const history of [withoutEmpty({ messages }), { messages: nulls }]) {
    const request = CHAT_CODECS['chat-completions'].decodeRequest({ model: 'm', ...history })
    const { body } = CHAT_CODECS[to].encodeRequest(request, { model: 'up', maxOutput: 99, quirks: {} })
    expect(pairsIn(to, body)).toEqual({ one: 'FIRST', two: 'SECOND' })
  }
})
