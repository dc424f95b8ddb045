// Usage as disjoint classes, and merging reports of it.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  count,
  disjoint,
  inKinds,
  KIND_PARTS,
  mergeReport,
  type Nested,
  sum,
  totalTokens,
  type Usage,
  withPrompt,
} from '../../src/ir/usage.ts'

const none: Nested = {
  prompt: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  output: undefined,
  reasoning: undefined,
  total: undefined,
}

test.each<[string, Partial<Nested>, Usage, number]>([
  ['nothing told', {}, {}, 0],
  ['no details', { prompt: 10, output: 5 }, { input: 10, output: 5 }, 15],
  [
    'caches within the prompt',
    { prompt: 10, cacheRead: 4, cacheWrite: 3 },
    { input: 3, cacheRead: 4, cacheWrite: 3 },
    10,
  ],
  ['all of it cached', { prompt: 4, cacheRead: 4, output: 1 }, { input: 0, cacheRead: 4, output: 1 }, 5],
  [
    'a cache larger than the prompt',
    { prompt: 10, cacheRead: 30, output: 5 },
    { input: 0, cacheRead: 10, output: 5 },
    15,
  ],
  [
    'two caches larger than the prompt',
    { prompt: 10, cacheRead: 8, cacheWrite: 8 },
    { input: 0, cacheRead: 8, cacheWrite: 2 },
    10,
  ],
  [
    'a cache in addition to the prompt, by the total',
    { prompt: 10, cacheRead: 30, output: 5, total: 45 },
    { input: 10, cacheRead: 30, output: 5 },
    45,
  ],
  ['no output, by the total', { prompt: 10, total: 15 }, { input: 10, output: 5 }, 15],
  ['no prompt, by the total', { output: 5, cacheRead: 4, total: 15 }, { input: 6, cacheRead: 4, output: 5 }, 15],
  ['no output yet, by the total', { prompt: 10, total: 10 }, { input: 10 }, 10],
  [
    'reasoning within the output',
    { prompt: 1, output: 9, reasoning: 4, total: 10 },
    { input: 1, output: 9, reasoning: 4 },
    10,
  ],
  [
    'reasoning in addition to the output, by the total',
    { prompt: 1, output: 9, reasoning: 4, total: 14 },
    { input: 1, output: 13, reasoning: 4 },
    14,
  ],
  [
    'reasoning larger than the output',
    { prompt: 1, output: 9, reasoning: 30 },
    { input: 1, output: 9, reasoning: 9 },
    10,
  ],
  ['reasoning of no known output', { prompt: 1, reasoning: 4 }, { input: 1, reasoning: 4 }, 1],
  ['a cache of no known prompt', { cacheRead: 7, output: 1 }, { cacheRead: 7, output: 1 }, 8],
  ['thoughts that the total alone holds', { prompt: 10, output: 5, total: 99 }, { input: 10, output: 89 }, 99],
  [
    'thoughts that the total alone holds, and a cache within the prompt',
    { prompt: 10, cacheRead: 4, output: 5, total: 99 },
    { input: 6, cacheRead: 4, output: 89 },
    99,
  ],
  [
    'what was written to the cache in addition to the prompt, and what was read in it',
    { prompt: 105, cacheRead: 100, cacheWrite: 50, output: 10, total: 165 },
    { input: 5, cacheRead: 100, cacheWrite: 50, output: 10 },
    165,
  ],
  [
    'reasoning and a cache in addition to both',
    { prompt: 10, cacheRead: 30, output: 5, reasoning: 7, total: 52 },
    { input: 10, cacheRead: 30, output: 12, reasoning: 7 },
    52,
  ],
  [
    'told reasoning and a total that has more than it',
    { prompt: 10, output: 5, reasoning: 3, total: 99 },
    { input: 10, output: 5, reasoning: 3 },
    15,
  ],
])('%s', (_, told, classes, total) => {
  const usage = disjoint({ ...none, ...told })
  expect(usage).toEqual(classes)
  expect(totalTokens(usage)).toBe(total)
})

test('a total that has more than prompt and output is what is billed, whatever of the prompt was cached', () => {
  const tokens = fc.nat({ max: 1e6 })
  fc.assert(
    fc.property(tokens, tokens, tokens, tokens, tokens, (input, cacheRead, cacheWrite, output, more) => {
      const prompt = input + cacheRead + cacheWrite
      const total = prompt + output + more
      const usage = disjoint({ ...none, prompt, cacheRead, cacheWrite, output, total })
      expect(totalTokens(usage)).toBe(total)
      expect(usage).toMatchObject({ cacheRead, cacheWrite })
    }),
  )
})

test.each([-1, 1e300, Number.POSITIVE_INFINITY, Number.NaN, '', '7.5', '0x7', '-7', ' 7', '9'.repeat(14), null, true])(
  '%p is not a number of tokens',
  (value) => {
    expect(count(value)).toBeUndefined()
  },
)

test('a number of tokens is rounded, and read in quotes', () => {
  expect([0, 6.6, 1e12, '0', '17'].map(count)).toEqual([0, 7, 1e12, 0, 17])
})

test('a later report overwrites its own members and keeps the others', () => {
  const first = { input_tokens: 5, details: { cached: 2 }, tier: null }
  expect(mergeReport(undefined, first)).toBe(first)
  expect(mergeReport(first, { input_tokens: null, details: null, output_tokens: 7 })).toEqual({
    ...first,
    output_tokens: 7,
  })
})

test.each<[string, Usage, Usage]>([
  ['nothing told', {}, { input: 9 }],
  ['a prompt', { input: 4 }, { input: 4 }],
  ['a prompt of nothing', { input: 0 }, { input: 0 }],
  ['a cache alone', { cacheRead: 4 }, { cacheRead: 4 }],
  ['caches that hold nothing', { cacheRead: 0, cacheWrite: 0 }, { input: 9, cacheRead: 0, cacheWrite: 0 }],
])('the estimate of a prompt beside %s', (_, usage, shown) => {
  expect(withPrompt(usage, 9)).toEqual(shown)
})

test('two reports that are billed together come to what either has and both share', () => {
  const names = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output', 'reasoning', 'audioInput'] as const
  const told = fc.option(fc.nat(1e6), { nil: undefined })
  const usage = fc
    .tuple(...names.map(() => told))
    .map(
      (counts): Usage =>
        Object.fromEntries(names.flatMap((name, at) => (counts[at] === undefined ? [] : [[name, counts[at]]]))),
    )
  fc.assert(
    fc.property(usage, usage, (one, other) => {
      const both = sum(one, other)
      for (const name of names) {
        const due = one[name] === undefined ? other[name] : one[name] + (other[name] ?? 0)
        expect(both?.[name]).toBe(due as number)
      }
      expect(sum(other, one)).toEqual(both)
      expect([sum(one, undefined), sum(undefined, one)]).toEqual([one, one])
    }),
  )
})

test('what is told of sound and pictures is a part of its class, its cached tokens apart', () => {
  const tokens = fc.nat(1_000)
  fc.assert(
    fc.property(
      tokens,
      tokens,
      tokens,
      tokens,
      tokens,
      tokens,
      (input, cacheRead, output, ofPrompt, ofCache, ofOutput) => {
        const usage = { input, cacheRead, output }
        const inPrompt = { audio_tokens: ofPrompt, cached_tokens_details: { audio_tokens: ofCache } }
        const told = inKinds(usage, inPrompt, { audio_tokens: ofOutput })
        const fromCache = Math.min(ofCache, cacheRead)
        const due = {
          audioInput: Math.max(0, Math.min(ofPrompt, input + fromCache) - fromCache),
          audioCacheRead: fromCache,
          audioOutput: Math.min(ofOutput, output),
        }
        for (const [part, whole] of KIND_PARTS) expect(told[part] ?? 0).toBeLessThanOrEqual(told[whole] ?? 0)
        const isTold = ([, count]: [string, number]): boolean => count > 0
        expect(told).toEqual({ ...usage, ...Object.fromEntries(Object.entries(due).filter(isTold)) })
      },
    ),
  )
  expect(inKinds({}, { audio_tokens: 4 }, { image_tokens: 4 })).toEqual({})
})
