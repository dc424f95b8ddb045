// Texts of white space alone: left out between other parts, kept within what is said.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { withoutBlanks } from '../../src/ir/blank.ts'
import type { ChatEvent } from '../../src/ir/event.ts'
import { fold, unfold } from '../../src/ir/fold.ts'
import type { AssistantPart } from '../../src/ir/part.ts'
import { chatResponse } from '../support/arbitrary/answer.ts'

const text = (value: string): AssistantPart => ({ type: 'text', text: value })
const thought: AssistantPart = { type: 'reasoning', text: 'hm' }
const call: AssistantPart = { type: 'tool-call', id: 'c', name: 'f', kind: 'function', input: '{}' }

/** Each text in pieces of one character. */
const events = (parts: AssistantPart[]): ChatEvent[] =>
  unfold({ id: 'a', parts, finish: 'stop', usage: {} }).flatMap((event): ChatEvent[] =>
    event.type === 'text-delta' ? [...event.text].map((one) => ({ ...event, text: one })) : [event],
  )
const seen = (parts: AssistantPart[]): AssistantPart[] => {
  const see = withoutBlanks()
  return fold(events(parts).flatMap((event) => see([event]))).parts
}

test.each<[string, AssistantPart[], AssistantPart[]]>([
  ['between a thought and a call', [thought, text('\n\n'), call], [thought, call]],
  ['before a thought', [text('\n'), thought, text('hi')], [thought, text('hi')]],
  ['behind a text, before a call', [text('hi'), text(' '), call], [text('hi'), call]],
  ['at the end', [call, text(' \n')], [call]],
])('are left out %s', (_, parts, due) => expect(seen(parts)).toEqual(due))

test.each<[string, AssistantPart[]]>([
  ['between two texts, which it parts', [text('one'), text(' '), text('two')]],
  ['as the whole answer', [text(' \n')]],
  ['at the beginning and the end of a text', [thought, text('\n\nhi\n'), call]],
])('stay %s', (_, parts) => expect(seen(parts)).toEqual(parts))

describe('laws', () => {
  test('nothing but white space is lost, and an answer without blank texts is untouched', () => {
    fc.assert(
      fc.property(chatResponse, ({ parts }) => {
        const said = (list: AssistantPart[]) =>
          list
            .map((part) => ('text' in part ? part.text : JSON.stringify(part)))
            .join('')
            .replace(/\s/g, '')
        expect(said(seen(parts))).toBe(said(fold(events(parts)).parts))
        const filled = parts.filter((part) => part.type !== 'text' || part.text.trim() !== '')
        expect(seen(filled)).toEqual(fold(events(filled)).parts)
      }),
    )
  })

  test('in whatever groups the events come', () => {
    fc.assert(
      fc.property(chatResponse, fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }), ({ parts }, sizes) => {
        const see = withoutBlanks()
        const all = events(parts)
        const out: ChatEvent[] = []
        for (let at = 0, nth = 0; at < all.length; nth++) {
          const size = sizes[nth % sizes.length] ?? 1
          out.push(...see(all.slice(at, at + size)))
          at += size
        }
        expect(fold(out).parts).toEqual(seen(parts))
      }),
    )
  })
})
