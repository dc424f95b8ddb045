// The output for a recognised frame is the same as for a parsed one, whatever its string.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { FrameTemplate } from '../../src/lib/frame-template.ts'
import { CODECS } from '../../src/wire/index.ts'

const PATH = ['choices', 0, 'delta', 'content'] as const
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    '"',
    '\\',
    '\\"',
    '","role":"x',
    '"}}],"usage":null',
    '\u0000',
    '\n',
    'ខ្មែរ',
    '😀',
    'm-1',
    'content',
  ),
)
const chunk = (content: string, model = 'm-1', id = 'c'): string =>
  JSON.stringify({ id, model, choices: [{ index: 0, delta: { content }, finish_reason: null }], usage: null })

describe('FrameTemplate', () => {
  test('gives the string of a frame and the output for it', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const template = new FrameTemplate()
        const made = (content: string) => `data: ${chunk(content, 'another')}\n\n`
        template.learn({ data: chunk(before) }, PATH, made(before))
        const found = template.match({ data: chunk(after) })
        if (found !== undefined) expect(found).toEqual({ out: made(after), text: after })
        // A string that occurs more than once does not tell its position.
        else expect(made(before).split(JSON.stringify(before)).length).not.toBe(2)
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['another event', { event: 'other', data: chunk('b') }],
    ['another id', { data: chunk('b', 'm-1', 'd') }],
    ['another member', { data: chunk('b').replace('"finish_reason":null', '"finish_reason":"stop"') }],
    ['another end as long as the other', { data: chunk('x').replace('"usage":null', '"usage":1234') }],
    ['a shorter end', { data: chunk('x y z').replace('"usage":null', '"usage":0') }],
    ['a member put in by its string', { data: chunk('x').replace('"x"', '"x","role":"y"') }],
    ['a raw control character', { data: chunk('x').replace('"x"', '"x\u0001"') }],
    ['a string cut in an escape', { data: chunk('x').replace('"x"', '"x\\"') }],
    ['an end that is its beginning', { data: chunk('').slice(0, -1) }],
  ])('does not match a frame with %s', (_, frame) => {
    const template = new FrameTemplate()
    template.learn({ data: chunk('a') }, PATH, `data: ${chunk('a')}\n\n`)
    expect(template.match({ data: chunk('b') })).toBeDefined()
    expect(template.match(frame)).toBeUndefined()
  })

  test('gives up on streams whose frames differ in more than a string', () => {
    const template = new FrameTemplate()
    for (let n = 0; n < 10; n++) template.learn({ data: chunk('a', 'm', `${n}`) }, PATH, chunk('a', 'm', `${n}`))
    expect(template.match({ data: chunk('b', 'm', '9') })).toBeUndefined()
  })
})

describe('a tap’s output for a frame does not depend on earlier frames', () => {
  const piece = fc.oneof(
    text.map((content) => ({ content })),
    text.map((refusal) => ({ content: null, refusal })),
    text.map((content) => ({ role: 'assistant', content })),
    text.map((content) => ({ content, reasoning_content: 'r' })),
    text.map((input) => ({ tool_calls: [{ index: 0, function: { arguments: input } }] })),
  )
  test.each([true, false])('chat-completions, usage asked for: %p', (includeUsage) => {
    const open = () => CODECS['chat-completions'].tap({ model: 'shown', includeUsage, now: 1 })
    fc.assert(
      fc.property(fc.array(piece, { minLength: 2, maxLength: 12, size: 'max' }), fc.boolean(), (deltas, usage) => {
        const frames = deltas.map((delta) => ({
          data: JSON.stringify({
            ...{ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta }] },
            ...(usage ? { usage: null } : {}),
          }),
        }))
        const tap = open()
        const alone = frames.map((frame) => {
          const one = open()
          return { out: one.see(frame), chars: one.output.chars }
        })
        expect(frames.map((frame) => tap.see(frame))).toEqual(alone.map(({ out }) => out))
        expect(tap.output.chars).toBe(alone.reduce((sum, { chars }) => sum + chars, 0))
      }),
    )
  })

  test('messages', () => {
    const open = () => CODECS.messages.tap({ model: 'shown', includeUsage: false, now: 1 })
    const kind = fc.constantFrom('text', 'thinking', 'partial_json', 'signature')
    fc.assert(
      fc.property(fc.array(fc.tuple(kind, text, fc.nat(1)), { minLength: 2, maxLength: 12, size: 'max' }), (deltas) => {
        const frames = deltas.map(([name, said, index]) => ({
          event: 'content_block_delta',
          data: JSON.stringify({ type: 'content_block_delta', index, delta: { type: name, [name]: said } }),
        }))
        const tap = open()
        const alone = frames.map((frame) => {
          const one = open()
          return { out: one.see(frame), text: one.output.text }
        })
        expect(frames.map((frame) => tap.see(frame))).toEqual(alone.map(({ out }) => out))
        expect(tap.output.text).toBe(alone.map(({ text }) => text).join(''))
      }),
    )
  })
})
