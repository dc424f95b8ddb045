// Lone surrogates, from texts that clients cut: sent on as replacement characters, and looked for where that costs little.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { mayBeTorn, toJson, wellFormed } from '../../src/relay/translate.ts'

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
/** Where surrogates, backslashes and letters of escapes come together. */
const torn = fc
  .array(fc.constantFrom('\ud83d', '\ude00', '😀', '\\', '\\\\', 'u', 'd', '\\ud83d', 'é', '"', '\n'), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''))

describe('a translated request', () => {
  test('has no lone surrogate, and all else as it was', () => {
    fc.assert(
      fc.property(torn, (text) => {
        expect(JSON.parse(toJson({ text }))).toEqual({ text: text.toWellFormed() })
      }),
    )
  })

  test('is sent as it stands where its bytes hold none', () => {
    fc.assert(
      fc.property(torn, (text) => {
        const json = JSON.stringify({ text })
        if (!mayBeTorn(bytesOf(json))) expect(wellFormed(json)).toBe(json)
        if (!text.isWellFormed()) expect(mayBeTorn(bytesOf(json))).toBe(true)
      }),
    )
  })
})
