// What names a conversation: the client's own word, else its opening; short, whatever its length. And where it belongs: at
// the account that every gateway would choose.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ChatWire } from '../../src/ir/wire.ts'
import { CACHED_MS, conversationOf, createAffinity, placesFor } from '../../src/relay/affinity.ts'
import { openText } from '../../src/relay/client-body.ts'
import { openAtOnce } from '../support/open-at-once.ts'

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

test('an opening has the same id in a large body, of which only that is read, as in one that is parsed whole', async () => {
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
  await fc.assert(
    fc.asyncProperty(
      body,
      fc.constantFrom<ChatWire>('messages', 'responses', 'chat-completions'),
      async (given, wire) => {
        const text = JSON.stringify({ ...given, end: long })
        const [large, whole] = [await openAtOnce(new TextEncoder().encode(text)), openText(text)].map((client) =>
          conversationOf('key_1', wire, new Headers(), client),
        )
        expect(large).toEqual(whole)
      },
    ),
  )
})

test('a large body is not parsed whole to name its conversation', async () => {
  const input = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'x'.repeat(50_000) },
  ]
  const client = await openAtOnce(new TextEncoder().encode(JSON.stringify({ model: 'm', input })))
  const whole = () => {
    throw new Error('It was parsed whole.')
  }
  const { id = '', continued } = conversationOf('key_1', 'responses', new Headers(), { ...client, whole }) ?? {}
  expect({ id, continued }).toEqual({ id: of({ input: input.slice(0, 1) })?.id ?? '', continued: true })
})

type Account = { id: string; weight: number }

const accounts = fc.uniqueArray(
  fc.record({
    id: fc.stringMatching(/^[a-z]{1,8}\/[a-z0-9-]{1,8}$/),
    weight: fc.double({ min: 0.01, max: 100, noNaN: true }),
  }),
  { selector: ({ id }) => id, minLength: 1, maxLength: 8 },
)
const conversations = fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 40 })
const ranked = (conversation: string, all: readonly Account[]) => placesFor(conversation, all, (each) => each)

describe('a conversation', () => {
  test('belongs at the same account wherever that is worked out, in whatever order accounts are written', () => {
    fc.assert(
      fc.property(accounts, conversations, fc.infiniteStream(fc.nat()), (all, names, lots) => {
        const shuffled = all
          .map((each) => ({ each, lot: lots.next().value }))
          .toSorted((a, b) => a.lot - b.lot)
          .map(({ each }) => each)
        for (const name of names) expect(ranked(name, shuffled)).toEqual(ranked(name, all))
      }),
    )
  })

  test('stays where it is when another account is added, lost or weighs otherwise, but for what that one gains or loses', () => {
    fc.assert(
      fc.property(
        accounts,
        conversations,
        fc.nat(),
        fc.double({ min: 0.01, max: 100, noNaN: true }),
        (all, names, at, weight) => {
          const one = all[at % all.length] as Account
          const others = all.filter((each) => each !== one)
          const heavier = [...others, { ...one, weight: one.weight + weight }]
          for (const name of names) {
            const order = ranked(name, all)
            expect(ranked(name, others)).toEqual(order.filter((each) => each !== one))
            const [first] = ranked(name, heavier)
            expect([order[0]?.id, one.id]).toContain(first?.id)
          }
        },
      ),
    )
  })

  test.each([[[1, 1, 1]], [[3, 1]], [[0.5, 0.25, 0.25]]])(
    'comes to accounts of the weights %p by their shares',
    (weights) => {
      const all = weights.map((weight, at) => ({ id: `vendor/${at}`, weight }))
      const sum = weights.reduce((total, weight) => total + weight, 0)
      const count = 20_000
      const at = new Map<string, number>()
      for (let n = 0; n < count; n++) {
        const id = ranked(`key_1:${n.toString(36)}`, all)[0]?.id ?? ''
        at.set(id, (at.get(id) ?? 0) + 1)
      }
      // Six standard deviations at most.
      for (const { id, weight } of all)
        expect(Math.abs((at.get(id) ?? 0) - (count * weight) / sum)).toBeLessThan(3 * Math.sqrt(count))
    },
  )
})

test('a conversation that has gone elsewhere is looked for there as long as its prompt may be kept there, and no longer', () => {
  let now = 0
  const affinity = createAffinity(() => now)
  affinity.remember('talk', 'b/two', CACHED_MS)
  affinity.remember('answer', 'b/one')
  now = CACHED_MS - 1
  affinity.remember('talk', 'b/two', CACHED_MS)
  expect(affinity.accountOf('talk')).toBe('b/two')
  now = CACHED_MS
  expect([affinity.accountOf('talk'), affinity.accountOf('answer')]).toEqual([undefined, 'b/one'])
})

test('an opening is known again for a while', () => {
  let now = 0
  const affinity = createAffinity(() => now)
  expect([affinity.isOpenedAgain('a'), affinity.isOpenedAgain('b'), affinity.isOpenedAgain('a')]).toEqual([
    false,
    false,
    true,
  ])
  now = CACHED_MS
  expect(affinity.isOpenedAgain('a')).toBe(false)
})
