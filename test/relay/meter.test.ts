// What a running stream has come to so far, as it is billed if the process is killed.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { OutputText } from '../../src/lib/output-text.ts'
import type { Exchange } from '../../src/relay/exchange.ts'
import { meterProgress, ofAll } from '../../src/relay/meter.ts'

const written = (chars: number): OutputText => {
  const text = new OutputText()
  text.add('a'.repeat(chars))
  return text
}

test.each([
  ['the provider’s figures once the model had written all', { complete: true, summed: true, output: 5 }, 5],
  ['an estimate of the text where figures came before its end', { complete: false, summed: true, output: 5 }, 100],
  ['an estimate of the text where figures are not of all of it', { complete: true, summed: false, output: 5 }, 100],
  ['figures that are more than the text', { complete: false, summed: true, output: 500 }, 500],
  ['an estimate of the text without any', { complete: false, summed: true, output: undefined }, 100],
])('a stream comes to %s', (_, { output, ...told }, expected) => {
  const tap = { ...told, usage: { input: 7, ...(output === undefined ? {} : { output }) }, output: written(400) }
  const exchange = { body: { inputEstimate: 3 } } as Exchange
  const metering = { tap, target: { model: { kind: 'text' } } } as Parameters<typeof meterProgress>[1]
  expect(meterProgress(exchange, metering)).toEqual({ input: 7, output: expected })
})

describe('several answers', () => {
  test('whose output was counted once are billed all', () => {
    expect(ofAll({ input: 9, output: 13 }, 2, 50)).toEqual({ input: 9, output: 26 })
    expect(ofAll({ input: 9, output: 25 }, 3, 75)).toEqual({ input: 9, output: 75 })
  })

  test('that were counted whole are billed as reported, by any vendor’s tokenizer', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 8 }), fc.integer({ min: 1, max: 10_000 }), (answers, each) => {
        const written = answers * each
        // Tokenizers of today differ by less than a third.
        for (const told of [written, Math.ceil(written * 0.7), Math.ceil(written * 1.4)])
          expect(ofAll({ output: told }, answers, written)).toEqual({ output: told })
      }),
    )
  })

  test('never more than the text can be, and one answer is as it was told', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.integer({ min: 1, max: 8 }), fc.nat(1_000), (output, answers, written) => {
        const { output: billed = 0 } = ofAll({ output }, answers, written)
        expect(billed === output || billed <= written * 1.25).toBe(true)
        if (answers === 1) expect(billed).toBe(output)
      }),
    )
  })
})
