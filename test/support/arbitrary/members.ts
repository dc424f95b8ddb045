// What the arbitraries of every wire are made of: members that may be there or not, texts, turns.

import fc from 'fast-check'
import type { AssistantPart, UserPart } from '../../../src/ir/part.ts'
import type { ChatRequest, Turn } from '../../../src/ir/request.ts'

export const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

/** Drops the members that are undefined, as exact optional properties want it. */
export const compact = <T>(value: object): T =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T

/** Text of one character at least, control and wide characters included. */
export const words = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
)
export const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,20}$/)
export const base64 = fc
  .uint8Array({ minLength: 1, maxLength: 12 })
  .map((bytes) => Buffer.from(bytes).toString('base64'))

/** A turn of any role, with parts in any order. */
export const turnOf = (parts: {
  system: fc.Arbitrary<Extract<Turn, { role: 'system' }>['parts'][number]>
  user: fc.Arbitrary<UserPart>
  assistant: fc.Arbitrary<AssistantPart>
}): fc.Arbitrary<Turn> =>
  fc.oneof(
    fc.array(parts.system, { maxLength: 2 }).map((some): Turn => ({ role: 'system', parts: some })),
    fc.array(parts.user, { maxLength: 4 }).map((some): Turn => ({ role: 'user', parts: some })),
    fc.array(parts.assistant, { maxLength: 4 }).map((some): Turn => ({ role: 'assistant', parts: some })),
  )

/** Call ids of their own for every answer, so that pairing has one solution. */
export const withOwnIds = (turns: Turn[]): Turn[] => {
  let answer = 0
  return turns.map((turn) => {
    if (turn.role === 'system') return turn
    if (turn.role === 'assistant') answer++
    const parts = turn.parts.map((part) => {
      if (part.type === 'tool-call') return { ...part, id: `${part.id}${answer}` }
      return part.type === 'tool-result' ? { ...part, callId: `${part.callId}${answer}` } : part
    })
    return { ...turn, parts } as Turn
  })
}

export const schema = fc.constantFrom(
  { type: 'object', properties: {} },
  { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
)

type Output = NonNullable<ChatRequest['output']>

export const output: fc.Arbitrary<Output> = fc.oneof(
  fc.constant<Output>({ type: 'json-object' }),
  fc
    .record({ name, schema, strict: maybe(fc.boolean()), description: maybe(words) })
    .map((format) => compact<Output>({ type: 'json-schema', ...format })),
)

/** As other wires may write it. */
export const foreignOutput = fc.constantFrom<Output>(
  { type: 'json-object' },
  { type: 'json-schema', name: 'my schema!', schema: {} },
  { type: 'json-schema', schema: {} },
)
