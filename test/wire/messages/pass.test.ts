// Bodies that pass to a provider of this wire: the edits for other providers' thoughts and for a lower output cap.

import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/ir/json.ts'
import { splice } from '../../../src/lib/json-splice.ts'
import { messages as codec } from '../../../src/wire/messages/index.ts'
import { refusals } from './request-rules.ts'

const passed = (asked: JsonObject, outputCap?: number): JsonObject => {
  const body: JsonObject = { model: 'm', max_tokens: 9_000, ...asked }
  return JSON.parse(splice(JSON.stringify(body), codec.passEdits(body, { model: 'up', outputCap, quirks: {} })))
}

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
