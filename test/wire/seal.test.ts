// Tags of sealed thoughts: a client of another wire sends the thought back unchanged, and no other text is a tag.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ChatResponse } from '../../src/ir/event.ts'
import { unfold } from '../../src/ir/fold.ts'
import type { AssistantPart, ReasoningPart } from '../../src/ir/part.ts'
import { CHAT_WIRES } from '../../src/ir/wire.ts'
import { CHAT_CODECS } from '../../src/wire/index.ts'
import { readTag, SEAL_PREFIX, sealTag } from '../../src/wire/seal.ts'

const sealed: fc.Arbitrary<ReasoningPart> = fc
  .record({
    text: fc.string({ unit: 'grapheme' }),
    full: fc.option(fc.boolean(), { nil: undefined }),
    origin: fc.constantFrom(...CHAT_WIRES),
    value: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.oneof(fc.string(), fc.constant(null), fc.integer())),
  })
  .map(({ text, full, origin, value }) => {
    const part: ReasoningPart = { type: 'reasoning', text, seal: { origin, value } }
    return full === undefined ? part : { ...part, full }
  })

test('reading a tag gives the same thought; a tag has only characters that are safe everywhere', () => {
  fc.assert(
    fc.property(sealed, (part) => {
      const tag = sealTag(part)
      expect(tag).toMatch(/^sluice\.[a-z-]+\.[A-Za-z0-9_-]+$/)
      expect(readTag(tag)).toEqual(part)
    }),
  )
})

test('a thought without a seal has no tag', () => {
  expect(sealTag({ type: 'reasoning', text: 'open' })).toBe('')
})

test('text that is not a tag, and a truncated tag, give nothing', () => {
  fc.assert(fc.property(fc.string(), (text) => expect(readTag(text)).toBeUndefined()))
  fc.assert(fc.property(fc.string(), (text) => expect(readTag(`${SEAL_PREFIX}messages.${text}`)).toBeUndefined()))
  fc.assert(
    fc.property(sealed, fc.nat(), (part, cut) => {
      const tag = sealTag(part)
      expect(readTag(tag.slice(0, cut % tag.length))).toBeUndefined()
    }),
  )
})

const words: fc.Arbitrary<AssistantPart> = fc
  .string({ minLength: 1, unit: 'grapheme' })
  .map((text) => ({ type: 'text', text }))
const called: fc.Arbitrary<AssistantPart> = fc
  .nat()
  .map((id) => ({ type: 'tool-call', id: `c${id}`, name: 'f', kind: 'function', input: '{}' }))
const thought: fc.Arbitrary<AssistantPart> = sealed.filter(({ seal }) => seal?.origin !== 'chat-completions')

/** Words before calls, as the wire has them, thoughts anywhere. */
const answers = fc
  .tuple(
    fc.array(fc.oneof(words, thought), { maxLength: 5 }),
    fc.uniqueArray(fc.oneof(called, thought), { maxLength: 5, selector: (part) => JSON.stringify(part) }),
  )
  .map((parts) => parts.flat().filter((part, at, all) => part.type !== 'text' || all[at - 1]?.type !== 'text'))

test('a thought keeps its position among text and calls, through a wire that has thoughts apart', () => {
  const chat = CHAT_CODECS['chat-completions']
  const ask = { model: 'm', body: {}, inputEstimate: 0, now: 0 }
  fc.assert(
    fc.property(answers, (parts) => {
      const response: ChatResponse = { id: 'a', parts, finish: 'stop', usage: {} }
      const encoder = chat.encodeEvents(ask)
      const stream = unfold(response).map((event) => encoder.push(event))
      const { choices } = chat.encodeResponse(response, ask)
      const [{ message }] = choices as [{ message: object }]
      for (const said of [message, gathered(stream.join(''))]) {
        const { turns } = chat.decodeRequest({
          model: 'm',
          messages: [said, { role: 'user', content: 'go on' }],
        } as never)
        expect(turns[0]?.parts ?? []).toEqual(parts)
      }
    }),
  )
})

test('thoughts keep their order where a client has shortened the text before them', () => {
  const { decodeRequest } = CHAT_CODECS['chat-completions']
  const part: ReasoningPart = { type: 'reasoning', text: 'hm', seal: { origin: 'messages', value: { signature: 's' } } }
  const reasoning_details = [{ type: 'reasoning.encrypted', data: sealTag(part, { text: 99, calls: 0 }) }]
  const tool_calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }]
  const message = { role: 'assistant', content: 'cut', tool_calls, reasoning_details }
  const { turns } = decodeRequest({ model: 'm', messages: [message, { role: 'user', content: 'go on' }] })
  expect(turns[0]?.parts.map(({ type }) => type)).toEqual(['text', 'reasoning', 'tool-call'])
})

/** A stream's pieces put together as its clients do. */
const gathered = (stream: string): object => {
  const message: { [name: string]: unknown; content: string } = { role: 'assistant', content: '' }
  const details: unknown[] = []
  const calls: { function: { arguments: string } }[] = []
  for (const line of stream.split('\n\n')) {
    if (!line.startsWith('data: {')) continue
    const { delta } = JSON.parse(line.slice('data: '.length)).choices[0] ?? {}
    message.content += delta?.content ?? ''
    details.push(...(delta?.reasoning_details ?? []))
    for (const { index, ...call } of delta?.tool_calls ?? []) {
      const known = calls[index]
      if (known === undefined) calls[index] = call
      else known.function.arguments += call.function.arguments
    }
  }
  return { ...message, reasoning_details: details, ...(calls.length === 0 ? {} : { tool_calls: calls }) }
}
