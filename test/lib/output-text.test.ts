// A text that grows in pieces: its exact length and its beginning are kept.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { OutputText } from '../../src/lib/output-text.ts'

const gathered = (pieces: readonly (string | undefined)[]): OutputText => {
  const output = new OutputText()
  for (const piece of pieces) output.add(piece)
  return output
}

test('pieces are joined to their text, also when it is read in between', () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.string(), { nil: undefined }), { maxLength: 200, size: 'max' }),
      fc.nat(200),
      (pieces, at) => {
        const output = gathered(pieces.slice(0, at))
        expect(output.text.slice(0, 1_000)).toStartWith(output.opening)
        expect(output.opening === '').toBe(output.chars === 0)
        expect(output.text).toBe(pieces.slice(0, at).join(''))
        for (const piece of pieces.slice(at)) output.add(piece)
        expect([output.text, output.chars]).toEqual([pieces.join(''), pieces.join('').length])
      },
    ),
  )
})

test.each([1, 1_000, 1_000_000])(
  'of a long text in pieces of %d the length is exact and the beginning is kept',
  (size) => {
    const whole = 'x1'.repeat(500_000)
    const output = new OutputText()
    for (let at = 0; at < whole.length; at += size) output.add(whole.slice(at, at + size))
    expect(output.chars).toBe(1_000_000)
    expect(output.text).toBe(whole.slice(0, 256 * 1024))
  },
)
