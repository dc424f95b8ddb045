// Tags of sealed thoughts: what goes out through a foreign client comes back unchanged, and nothing else opens.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ReasoningPart } from '../../src/ir/part.ts'
import { CHAT_WIRES } from '../../src/ir/wire.ts'
import { openTag, SEAL_PREFIX, sealTag } from '../../src/wire/seal.ts'

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

test('a tag brings the thought back unchanged, in letters any header or field can carry', () => {
  fc.assert(
    fc.property(sealed, (part) => {
      const tag = sealTag(part)
      expect(tag).toMatch(/^sluice\.[a-z-]+\.[A-Za-z0-9_-]+$/)
      expect(openTag(tag)).toEqual(part)
    }),
  )
})

test('a thought without a seal has no tag', () => {
  expect(sealTag({ type: 'reasoning', text: 'open' })).toBe('')
})

test('what is no tag, or a tag cut short, opens nothing', () => {
  fc.assert(fc.property(fc.string(), (text) => expect(openTag(text)).toBeUndefined()))
  fc.assert(fc.property(fc.string(), (text) => expect(openTag(`${SEAL_PREFIX}messages.${text}`)).toBeUndefined()))
  fc.assert(
    fc.property(sealed, fc.nat(), (part, cut) => {
      const tag = sealTag(part)
      expect(openTag(tag.slice(0, cut % tag.length))).toBeUndefined()
    }),
  )
})
