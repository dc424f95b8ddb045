// Answers of a model, in no wire's words.

import fc from 'fast-check'
import type { ChatResponse } from '../../../src/ir/event.ts'
import type { AssistantPart } from '../../../src/ir/part.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 20 })
const name = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_-]{0,12}$/)
const id = fc.stringMatching(/^[a-zA-Z0-9_-]{4,16}$/)

export const assistantPart: fc.Arbitrary<AssistantPart> = fc.oneof(
  text.map((value): AssistantPart => ({ type: 'text', text: value })),
  text.map((value): AssistantPart => ({ type: 'refusal', text: value })),
  fc.tuple(id, name, fc.dictionary(name, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })).map(
    ([callId, tool, input]): AssistantPart => ({
      type: 'tool-call',
      id: callId,
      name: tool,
      kind: 'function',
      input: JSON.stringify(input),
    }),
  ),
  fc.tuple(text, fc.boolean(), fc.option(fc.base64String(), { nil: undefined })).map(
    ([value, full, signature]): AssistantPart => ({
      type: 'reasoning',
      text: value,
      full,
      ...(signature === undefined ? {} : { seal: { origin: 'messages', value: { signature } } }),
    }),
  ),
)

const count = fc.nat(100_000)

export const chatResponse: fc.Arbitrary<ChatResponse> = fc.record({
  id,
  parts: fc.array(assistantPart, { maxLength: 5 }),
  finish: fc.constantFrom('stop', 'length', 'tool-calls', 'content-filter'),
  usage: fc.record({ input: count, cacheRead: count, cacheWrite: count, output: count }),
})
