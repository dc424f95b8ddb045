// What names a conversation: the client's own word, else its opening; short, whatever its length.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ChatWire } from '../../src/ir/wire.ts'
import { conversationOf } from '../../src/relay/affinity.ts'
import { openBody, openText } from '../../src/relay/client-body.ts'

const of = (body: object, headers: Record<string, string> = {}, wire: ChatWire = 'responses') =>
  conversationOf('key_1', wire, new Headers(headers), openText(JSON.stringify({ model: 'm', ...body })))

test.each([
  ['a header', {}, { session_id: 'x'.repeat(8_000) }],
  ['a cache key', { prompt_cache_key: 'x'.repeat(30_000) }, {}],
  ['an opening', { input: [{ role: 'user', content: 'x'.repeat(30_000) }] }, {}],
  ['an opening of many parts', { input: [{ role: 'user', content: Array.from({ length: 500_000 }, () => 'x') }] }, {}],
])('%s of any length has a short id', (_, body, headers) => {
  const { id = '' } = of(body, headers) ?? {}
  expect(id).toStartWith('key_1:')
  expect(id.length).toBeLessThan(40)
})

test('another id is another conversation, and so is the same id in another header or member', () => {
  const ids = [
    of({}, { session_id: 'a' }),
    of({}, { session_id: 'b' }),
    of({}, { 'thread-id': 'a' }),
    of({ prompt_cache_key: 'a' }),
    of({ prompt_cache_key: 'b' }),
  ].map((conversation) => conversation?.id)
  expect(new Set(ids).size).toBe(5)
  expect(of({}, { session_id: 'a' })?.id).toBe(ids[0])
})

test.each(['function_call', 'custom_tool_call', 'shell_call', 'web_search_call', 'reasoning'])(
  'an opening ends at the first item of the model, even a lone %s',
  (type) => {
    const input = [{ role: 'user', content: 'hi' }]
    const later = [...input, { type, call_id: 'c1' }, { type: `${type}_output`, call_id: 'c1', output: 'x' }]
    const opened = of({ input })
    expect(opened?.continued).toBe(false)
    expect(of({ input: later })).toEqual({ id: opened?.id ?? '', continued: true })
  },
)

test.each<[ChatWire, string]>([
  ['messages', 'cache_control'],
  ['chat-completions', 'cache_control'],
  ['chat-completions', 'prompt_cache_breakpoint'],
])('an opening stays the same where marks for the cache move on: %s, %s', (wire, mark) => {
  const marked = (text: string) => [{ type: 'text', text, [mark]: { type: 'ephemeral' } }]
  const answered = [{ role: 'assistant', content: 'Hello.' }]
  const turns = (first: unknown, ...more: object[]) => ({ messages: [{ role: 'user', content: first }, ...more] })
  const opened = of({ system: marked('Be brief.'), ...turns(marked('hi')) }, {}, wire)
  const later = turns('hi', ...answered, { role: 'user', content: marked('Go on.') })
  expect(of({ system: 'Be brief.', ...later }, {}, wire)).toEqual({ id: opened?.id ?? '', continued: true })
  const others = [
    turns('ho', ...answered),
    turns(
      ['h', 'i'].map((text) => ({ type: 'text', text })),
      ...answered,
    ),
  ]
  for (const other of others) expect(of({ system: 'Be brief.', ...other }, {}, wire)?.id).not.toBe(opened?.id)
  expect(of({ system: 'Be long.', ...later }, {}, wire)?.id).not.toBe(opened?.id)
})

test('an opening has the same id in a large body, of which only that is read, as in one that is parsed whole', () => {
  const long = 'word '.repeat(20_000)
  const words = fc.oneof(fc.string(), fc.constantFrom('x'.repeat(100), `\n${'y'.repeat(700)}`, long, 'assistant'))
  const turn = fc.record(
    {
      role: fc.constantFrom('user', 'assistant', 'tool'),
      type: fc.constantFrom('message', 'function_call', `${'z'.repeat(80)}_call`, 'reasoning', 7),
      content: fc.oneof(words, fc.array(fc.record({ type: fc.constant('text'), text: words }), { maxLength: 3 })),
    },
    { requiredKeys: [] },
  )
  const turns = fc.oneof({ weight: 9, arbitrary: fc.array(fc.oneof(turn, words), { maxLength: 8 }) }, words)
  const body = fc.record(
    { system: fc.oneof(words, fc.constant(null), fc.array(words)), instructions: words, messages: turns, input: turns },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(body, fc.constantFrom<ChatWire>('messages', 'responses', 'chat-completions'), (given, wire) => {
      const text = JSON.stringify({ ...given, end: long })
      const [large, whole] = [openBody(new TextEncoder().encode(text)), openText(text)].map((client) =>
        conversationOf('key_1', wire, new Headers(), client),
      )
      expect(large).toEqual(whole)
    }),
  )
})

test('a large body is not parsed whole to name its conversation', () => {
  const input = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'x'.repeat(50_000) },
  ]
  const client = openBody(new TextEncoder().encode(JSON.stringify({ model: 'm', input })))
  const whole = () => {
    throw new Error('It was parsed whole.')
  }
  const { id = '', continued } = conversationOf('key_1', 'responses', new Headers(), { ...client, whole }) ?? {}
  expect({ id, continued }).toEqual({ id: of({ input: input.slice(0, 1) })?.id ?? '', continued: true })
})
