// What a running stream has come to so far, as it is billed if the process is killed.

import { expect, test } from 'bun:test'
import { OutputText } from '../../src/lib/output-text.ts'
import type { Exchange } from '../../src/relay/exchange.ts'
import { meterProgress } from '../../src/relay/meter.ts'

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
