// Bodies of this wire that pass to a provider that speaks it: what must change with the thoughts of others, and with a
// lower cap.

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

describe('a budget of thought', () => {
  // By budget, the provider wants a round of calls to begin with a thought of its own.
  test.each<[string, JsonObject[], boolean]>([
    ['a call that followed another’s thought', [hi, call('1', foreign), result('1')], false],
    ['one whose result the user spoke behind', [hi, call('1', foreign), result('1'), hi, instruction], false],
    ['one, then a thought alone, which goes', [hi, call('1', foreign), result('1'), thoughtAlone, hi], false],
    ['an earlier call of the round', [hi, call('1', foreign), result('1'), call('2', native), result('2')], false],
    ['a later call of the round', [hi, call('1', native), result('1'), call('2', foreign), result('2')], false],
    [
      'a call in a message behind that of another’s thought',
      [hi, { role: 'assistant', content: [foreign, { type: 'text', text: 'So.' }] }, call('1'), result('1')],
      false,
    ],
    ['a call behind a thought alone, which goes', [hi, thoughtAlone, call('1'), result('1')], false],
    [
      'a call in a message behind that of its own thought',
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
    ['a round that is over', [hi, call('1', foreign), result('1'), say, hi], true],
    ['its own thoughts', [hi, call('1', native), result('1')], true],
    ['no thought at all, which is the client’s', [hi, call('1'), result('1')], true],
  ])('behind %s', (_, messages, thinks) => {
    expect(passed({ thinking, messages }).thinking).toEqual(thinks ? thinking : { type: 'disabled' })
  })

  test('is taken back with what only goes with it', () => {
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

  test('left to the model stays', () => {
    const adaptive = { type: 'adaptive' }
    expect(passed({ thinking: adaptive, messages: [hi, call('1', foreign), result('1')] }).thinking).toEqual(adaptive)
  })
})

test('a turn of others’ thoughts alone goes, but not from behind an instruction, which the model’s turn must follow', () => {
  expect(passed({ messages: [hi, thoughtAlone, hi] }).messages).toEqual([hi, hi])
  const kept = passed({ messages: [hi, instruction, thoughtAlone, hi] })
  expect(refusals({ ...kept, thinking: null }, 'foreign')).toEqual([])
  expect(kept.messages).toEqual([
    hi,
    instruction,
    { role: 'assistant', content: [{ type: 'text', text: '(no content)' }] },
    hi,
  ])
  // Kept at the end it would be an answer that the client has begun.
  expect(passed({ messages: [hi, instruction, thoughtAlone] }).messages).toEqual([hi, instruction])
})
