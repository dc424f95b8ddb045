// Bodies that pass to a provider of this wire: the edits for other providers' thoughts and for a lower output cap.

import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { Quirks } from '../../../src/ir/quirks.ts'
import { splice } from '../../../src/lib/json-splice.ts'
import type { Target } from '../../../src/relay/target.ts'
import { editsFor } from '../../../src/relay/translate.ts'
import { messages as codec } from '../../../src/wire/messages/index.ts'
import { openAtOnce } from '../../support/open-at-once.ts'
import { refusals } from './request-rules.ts'

const edited = (asked: JsonObject, outputCap?: number, learned: Quirks = {}) => {
  const body: JsonObject = { model: 'm', max_tokens: 9_000, ...asked }
  const edits = codec.passEdits(body, { model: 'up', outputCap, quirks: {}, learned })
  const sent: JsonObject = JSON.parse(splice(JSON.stringify(body), edits))
  return { sent, lost: edits.flatMap(({ lost, path }) => (lost ? [path.join('.')] : [])) }
}
const passed = (asked: JsonObject, outputCap?: number): JsonObject => edited(asked, outputCap).sent

const foreign = { type: 'thinking', thinking: 'b', signature: 'sluice.responses.e30' }
const native = { type: 'thinking', thinking: 'a', signature: 'c2ln' }
const hi = { role: 'user', content: 'hi' }
const instruction = { role: 'system', content: 'Be brief.' }
const thoughtAlone = { role: 'assistant', content: [foreign] }
const call = (id: string, thought?: JsonObject): JsonObject => ({
  role: 'assistant',
  content: [...(thought === undefined ? [] : [thought]), { type: 'tool_use', id, name: 'f', input: {} }],
})
const result = (id: string): JsonObject => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: 'r' }],
})
const say = { role: 'assistant', content: 'So.' }
const thinking = { type: 'enabled', budget_tokens: 2_000 }
const clear = { type: 'clear_thinking_20251015', keep: 'all' }
const uses = { type: 'clear_tool_uses_20250919' }

describe('thinking by budget', () => {
  // The provider then requires a round of calls to begin with one of its own thoughts.
  test.each<[string, JsonObject[], boolean]>([
    ['a call after another provider’s thought', [hi, call('1', foreign), result('1')], false],
    [
      'such a call whose result is followed by user and system messages',
      [hi, call('1', foreign), result('1'), hi, instruction],
      false,
    ],
    [
      'such a call, then a message of a foreign thought alone',
      [hi, call('1', foreign), result('1'), thoughtAlone, hi],
      false,
    ],
    ['an earlier call of the round', [hi, call('1', foreign), result('1'), call('2', native), result('2')], false],
    ['a later call of the round', [hi, call('1', native), result('1'), call('2', foreign), result('2')], false],
    [
      'a call in the message after another provider’s thought',
      [hi, { role: 'assistant', content: [foreign, { type: 'text', text: 'So.' }] }, call('1'), result('1')],
      false,
    ],
    ['a call in the message after a foreign thought alone', [hi, thoughtAlone, call('1'), result('1')], false],
    [
      'a call in the message after the provider’s own thought',
      [
        hi,
        thoughtAlone,
        hi,
        { role: 'assistant', content: [native, { type: 'text', text: 'So.' }] },
        call('1'),
        result('1'),
      ],
      true,
    ],
    ['a finished round', [hi, call('1', foreign), result('1'), say, hi], true],
    ['the provider’s own thoughts', [hi, call('1', native), result('1')], true],
    ['no thought at all, where the client removed it', [hi, call('1'), result('1')], true],
  ])('with %s', (_, messages, thinks) => {
    expect(passed({ thinking, messages }).thinking).toEqual(thinks ? thinking : { type: 'disabled' })
  })

  test('is turned off together with the context edits that need it', () => {
    const messages = [hi, call('1', foreign), result('1')]
    const both = passed({ thinking, messages, context_management: { edits: [clear, uses] } })
    expect(both.context_management).toEqual({ edits: [uses] })
    expect(passed({ thinking, messages, context_management: { edits: [clear] } })).not.toHaveProperty(
      'context_management',
    )
    const small = passed({ thinking, messages: [hi], context_management: { edits: [clear] } }, 500)
    expect(passed({ thinking, messages }, 500).thinking).toEqual({ type: 'disabled' })
    expect(small).toEqual({ model: 'up', max_tokens: 500, thinking: { type: 'disabled' }, messages: [hi] })
  })

  test('adaptive thinking stays on', () => {
    const adaptive = { type: 'adaptive' }
    expect(passed({ thinking: adaptive, messages: [hi, call('1', foreign), result('1')] }).thinking).toEqual(adaptive)
  })
})

describe('a model that has refused to think by a budget', () => {
  const learned = { noThinkingBudget: true }
  test.each<[string, JsonObject, JsonObject, string[]]>([
    [
      'is asked for a low effort in place of a small one',
      { thinking: { type: 'enabled', budget_tokens: 1_024, display: 'omitted' } },
      { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'low' } },
      ['thinking.budget_tokens'],
    ],
    [
      'is asked for a high effort in place of a large one',
      { thinking: { type: 'enabled', budget_tokens: 32_000 }, output_config: { format: null } },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high', format: null } },
      ['thinking.budget_tokens'],
    ],
    [
      'is asked for the effort that the client names',
      { thinking: { type: 'enabled', budget_tokens: 32_000 }, output_config: { effort: 'low' } },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
      ['thinking.budget_tokens'],
    ],
    ['thinks adaptively as ever', { thinking: { type: 'adaptive' } }, { thinking: { type: 'adaptive' } }, []],
    [
      'does not think where it is not asked to',
      { thinking: { type: 'disabled' } },
      { thinking: { type: 'disabled' } },
      [],
    ],
    ['does not think where nothing is said', {}, {}, []],
  ])('%s', (_, asked, sent, lost) => {
    const rest = { model: 'up', max_tokens: 9_000, messages: [hi] }
    expect(edited({ ...asked, messages: [hi] }, undefined, learned)).toEqual({ sent: { ...rest, ...sent }, lost })
  })
})

describe('a model that has refused to think adaptively', () => {
  const learned = { noAdaptiveThinking: true }
  const think = (asked: JsonObject, cap?: number) =>
    edited({ thinking: { type: 'adaptive', display: 'summarized' }, messages: [hi], ...asked }, cap, learned)

  test.each<[string, JsonObject, number | undefined, number]>([
    ['of a medium effort', { max_tokens: 64_000 }, undefined, 8_192],
    [
      'of the effort that the client names',
      { max_tokens: 64_000, output_config: { effort: 'high' } },
      undefined,
      16_384,
    ],
    ['of half of the output', { max_tokens: 9_001 }, undefined, 4_500],
    ['of half of a lowered output', { max_tokens: 64_000 }, 3_000, 1_500],
  ])('gets a budget %s', (_, asked, cap, budget) => {
    const { sent, lost } = think(asked, cap)
    expect(sent.thinking).toEqual({ type: 'enabled', display: 'summarized', budget_tokens: budget })
    expect(sent).not.toHaveProperty('output_config')
    expect(lost).toEqual(asked.output_config === undefined ? [] : ['output_config'])
  })

  test('keeps the rest of how its answer is to be', () => {
    const { sent, lost } = think({ output_config: { effort: 'max', format: null } })
    expect([sent.output_config, lost]).toEqual([{ format: null }, ['output_config.effort']])
  })

  test.each<[string, JsonObject, number | undefined]>([
    ['the output has no room for it', { max_tokens: 2_000 }, undefined],
    ['a lowered output has no room for it', {}, 500],
    ['a round of calls has begun without a thought', { messages: [hi, call('1'), result('1')] }, undefined],
  ])('does not think where %s', (_, asked, cap) => {
    const clearing = { context_management: { edits: [clear] }, output_config: { effort: 'low' } }
    const { sent, lost } = think({ ...clearing, ...asked }, cap)
    expect(sent.thinking).toEqual({ type: 'disabled' })
    expect(lost).toEqual(['thinking', 'context_management', 'output_config'])
  })

  test('thinks in a round of calls that has begun with a thought', () => {
    expect(think({ messages: [hi, call('1', native), result('1')] }).sent.thinking).toMatchObject({ type: 'enabled' })
  })
})

test('a message of foreign thoughts alone is removed, unless it separates a system message from the user’s', () => {
  expect(passed({ messages: [hi, thoughtAlone, hi] }).messages).toEqual([hi, hi])
  const kept = passed({ messages: [hi, instruction, thoughtAlone, hi] })
  expect(refusals({ ...kept, thinking: null }, 'foreign')).toEqual([])
  expect(kept.messages).toEqual([
    hi,
    instruction,
    { role: 'assistant', content: [{ type: 'text', text: '(no content)' }] },
    hi,
  ])
  // At the end it would be a prefill.
  expect(passed({ messages: [hi, instruction, thoughtAlone] }).messages).toEqual([hi, instruction])
})

/** As the gateway writes it for an answer of another wire. */
const link = {
  type: 'web_search_result_location',
  cited_text: '',
  encrypted_index: '',
  title: null,
  url: 'https://a.b',
}

test('so is a text of nothing but links of another wire’s answer, and a message of nothing else', () => {
  const late = { type: 'text', text: '', citations: [link] }
  const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }
  const said = { role: 'assistant', content: [{ type: 'text', text: 'So.', citations: [link] }, call, late] }
  expect(passed({ messages: [hi, said, hi, { role: 'assistant', content: [late] }] }).messages).toEqual([
    hi,
    { role: 'assistant', content: [{ type: 'text', text: 'So.' }, call] },
    hi,
  ])
  // Of a long text an outline tells only what stands before its first escape.
  const long = { role: 'assistant', content: [{ type: 'text', text: `\n${'Long. '.repeat(400)}`, citations: [link] }] }
  expect(passed({ messages: [hi, long] }).messages).toEqual([
    hi,
    { role: 'assistant', content: [{ type: 'text', text: `\n${'Long. '.repeat(400)}` }] },
  ])
})

test('links of other wires’ answers are removed, and the provider’s own citations stay', () => {
  const own = { ...link, encrypted_index: 'b3BhcXVl' }
  const said = (...citations: JsonObject[]): JsonObject => ({
    role: 'assistant',
    content: [{ type: 'text', text: 'So.', citations }],
  })
  expect(passed({ messages: [hi, said(link, own, link), hi, said(link), hi, said(own), said()] }).messages).toEqual([
    hi,
    said(own),
    hi,
    { role: 'assistant', content: [{ type: 'text', text: 'So.' }] },
    hi,
    said(own),
    said(),
  ])
})

test('of a long body, sealed citations that begin with an escaped slash stay', async () => {
  const sealed = `/${'x'.repeat(80)}`
  const cited = { type: 'web_search_result_location', url: 'https://a.example/', title: 'A', encrypted_index: sealed }
  const said = { role: 'assistant', content: [{ type: 'text', text: 'So.', citations: [cited] }] }
  const long = { role: 'user', content: 'Long. '.repeat(8_000) }
  const text = JSON.stringify({ model: 'm', max_tokens: 90, messages: [long, said, hi] }).replaceAll('/', '\\/')
  const body = await openAtOnce(new TextEncoder().encode(text))
  const target = { provider: {}, model: { upstream: 'm' } } as Target
  expect(editsFor(codec, body, target)).toEqual([{ path: ['model'], value: '"m"' }])
})
