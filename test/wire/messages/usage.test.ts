// What a usage object of the messages API is billed as, and what clients of that wire are told.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { Usage } from '../../../src/ir/usage.ts'
import {
  decodeBilled,
  decodeUsage,
  encodeSearches,
  encodeTier,
  encodeUsage,
  encodeUsageDelta,
  tierIn,
  withReport,
} from '../../../src/wire/messages/usage.ts'

const written = (short: number | undefined, long: number | undefined) => ({
  ...(short === undefined ? {} : { ephemeral_5m_input_tokens: short }),
  ...(long === undefined ? {} : { ephemeral_1h_input_tokens: long }),
})

describe('a usage object is billed', () => {
  test.each<[string, unknown, Usage | undefined]>([
    ['not at all where it is none', 'usage', undefined],
    ['not at all without a count', { service_tier: 'standard', output_tokens: 'many' }, undefined],
    [
      'by its classes',
      { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 5 },
      { input: 3, cacheRead: 4, output: 5 },
    ],
    ['by another wire’s names', { prompt_tokens: 3, completion_tokens: 5 }, { input: 3, output: 5 }],
    ['by a name of each wire', { prompt_tokens: 3, output_tokens: 5 }, { input: 3, output: 5 }],
    ['by what the total leaves', { prompt_tokens: 3, total_tokens: 8 }, { input: 3, output: 5 }],
    [
      'by another wire’s names beside its own of nothing',
      { input_tokens: 0, output_tokens: 0, prompt_tokens: 3, completion_tokens: 5 },
      { input: 3, output: 5 },
    ],
    [
      'once where both wires’ names tell it',
      { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 5, prompt_tokens: 7, completion_tokens: 5 },
      { input: 3, cacheRead: 4, output: 5 },
    ],
    [
      'by the later of two outputs',
      { input_tokens: 3, output_tokens: 1, completion_tokens: 5 },
      { input: 3, output: 5 },
    ],
    [
      'with its thoughts',
      { output_tokens: 5, output_tokens_details: { thinking_tokens: 2 } },
      { output: 5, reasoning: 2 },
    ],
    [
      'by the total of what was written',
      { cache_creation_input_tokens: 9, cache_creation: written(4, 4) },
      { cacheWrite: 9, cacheWrite1h: 4 },
    ],
    ['by lifetimes added up, without a total', { cache_creation: written(4, 3) }, { cacheWrite: 7, cacheWrite1h: 3 }],
    [
      'likewise beside a total of nothing',
      { cache_creation_input_tokens: 0, cache_creation: written(4, 3) },
      { cacheWrite: 7, cacheWrite1h: 3 },
    ],
    ['by one lifetime', { cache_creation: written(undefined, 3) }, { cacheWrite: 3, cacheWrite1h: 3 }],
    ['by the other', { cache_creation: written(4, undefined) }, { cacheWrite: 4 }],
    ['for an hour only where something was', { cache_creation: written(4, 0) }, { cacheWrite: 4 }],
    [
      'for an hour at most what was written',
      { cache_creation_input_tokens: 2, cache_creation: written(0, 5) },
      { cacheWrite: 2, cacheWrite1h: 2 },
    ],
    ['as nothing written of no lifetime', { cache_creation_input_tokens: 0, cache_creation: {} }, { cacheWrite: 0 }],
    ['in the region it names', { output_tokens: 1, inference_geo: 'us' }, { output: 1, inferenceGeo: 'us' }],
    ['in none that is everywhere', { output_tokens: 1, inference_geo: 'global' }, { output: 1 }],
  ])('%s', (_, raw, usage) => {
    expect(decodeUsage(raw)).toEqual(usage)
  })
})

describe('rounds', () => {
  const round = (type: string, counts: [input: number, output: number], more: JsonObject = {}): JsonObject => ({
    ...{ type, input_tokens: counts[0], output_tokens: counts[1] },
    ...more,
  })
  const hours = (long: number): JsonObject => ({ cache_creation_input_tokens: long, cache_creation: written(0, long) })
  const total = { input_tokens: 10, output_tokens: 20 }
  test.each<[string, JsonObject, Usage]>([
    [
      'the totals include count once',
      { ...total, iterations: [round('message', [10, 20])] },
      { input: 10, output: 20 },
    ],
    [
      'the totals lack count all',
      { ...total, iterations: [round('message', [10, 8]), round('message', [15, 12])] },
      { input: 25, output: 20 },
    ],
    [
      'of a summary are added',
      { ...total, iterations: [round('compaction', [100, 7]), round('message', [10, 20])] },
      { input: 110, output: 27 },
    ],
    [
      'of a class that the report leaves out are not',
      { output_tokens: 20, iterations: [round('compaction', [100, 7])] },
      { output: 27 },
    ],
    [
      'written for an hour are, beside those that were',
      { ...total, ...hours(4), iterations: [round('compaction', [1, 1], hours(3))] },
      { input: 11, output: 21, cacheWrite: 7, cacheWrite1h: 7 },
    ],
    [
      'written for an hour are, where the answer’s own were not',
      { ...total, cache_creation_input_tokens: 5, iterations: [round('compaction', [1, 1], hours(3))] },
      { input: 11, output: 21, cacheWrite: 8, cacheWrite1h: 3 },
    ],
    [
      'that the totals lack are written for an hour, too',
      { ...total, ...hours(2), iterations: [round('message', [10, 8], hours(2)), round('message', [0, 12], hours(4))] },
      { input: 10, output: 20, cacheWrite: 6, cacheWrite1h: 6 },
    ],
    [
      'for an hour are no more than was written',
      { ...total, iterations: [round('message', [10, 20], hours(4))] },
      { input: 10, output: 20 },
    ],
    [
      'of a model that declined after it wrote are added',
      {
        ...total,
        iterations: [round('message', [9, 4], { model: 'a' }), round('fallback_message', [10, 20], { model: 'b' })],
      },
      { input: 19, output: 24 },
    ],
    [
      'of a model that declined before it wrote are nothing',
      {
        ...total,
        iterations: [round('message', [9, 0], { model: 'a' }), round('fallback_message', [10, 20], { model: 'b' })],
      },
      { input: 10, output: 20 },
    ],
    [
      'of the model that replaced it are in the totals',
      {
        ...total,
        iterations: [
          round('fallback_message', [5, 8], { model: 'b' }),
          round('fallback_message', [5, 12], { model: 'b' }),
        ],
      },
      { input: 10, output: 20 },
    ],
  ])('that %s', (_, raw, usage) => {
    const { apart: _apart, ...classes } = decodeUsage(raw) ?? {}
    expect(classes).toEqual(usage)
  })

  test.each<[string, JsonObject, Usage['apart']]>([
    ['of the answer alone', { ...total, iterations: [round('message', [10, 20])] }, undefined],
    [
      'of a summary, by the model that was asked',
      { ...total, iterations: [round('compaction', [100, 7], { model: null }), round('message', [10, 20])] },
      [{ usage: { input: 100, output: 7 } }],
    ],
    [
      'of another model’s advice',
      { ...total, ...hours(4), iterations: [round('advisor_message', [5, 3], { model: 'b', ...hours(2) })] },
      [{ model: 'b', usage: { input: 5, output: 3, cacheWrite: 2, cacheWrite1h: 2 } }],
    ],
    [
      'of the model that stood in, and of one that had begun',
      {
        ...total,
        iterations: [round('message', [9, 4], { model: 'a' }), round('fallback_message', [10, 20], { model: 'b' })],
      },
      [
        { model: 'a', usage: { input: 9, output: 4 } },
        { model: 'b', usage: { input: 10, output: 20 } },
      ],
    ],
    [
      'of classes that the report has, and no others',
      { output_tokens: 20, iterations: [round('compaction', [100, 7])] },
      [{ usage: { output: 7 } }],
    ],
    ['of nothing where it has none', { iterations: [round('compaction', [100, 7])] }, undefined],
  ])('are billed by themselves: %s', (_, raw, apart) => {
    expect(decodeUsage(raw)?.apart).toEqual(apart)
  })
})

describe('a later report of a stream', () => {
  const start = { input_tokens: 10, cache_read_input_tokens: 3, cache_creation_input_tokens: 0, output_tokens: 1 }
  test.each<[string, JsonObject | undefined, JsonObject, Usage]>([
    [
      'takes the place of the one before',
      start,
      { input_tokens: 12, output_tokens: 9 },
      { input: 12, cacheRead: 3, cacheWrite: 0, output: 9 },
    ],
    ['without a prompt keeps it', start, { output_tokens: 9 }, { input: 10, cacheRead: 3, cacheWrite: 0, output: 9 }],
    [
      'with a prompt of nothing keeps it',
      start,
      { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 9 },
      { input: 10, cacheRead: 3, cacheWrite: 0, output: 9 },
    ],
    [
      'with one token of a prompt has one',
      start,
      { input_tokens: 1, output_tokens: 9 },
      { input: 1, cacheRead: 3, cacheWrite: 0, output: 9 },
    ],
    [
      'all from the cache is no prompt of nothing',
      start,
      { input_tokens: 0, cache_read_input_tokens: 13 },
      { input: 0, cacheRead: 13, cacheWrite: 0, output: 1 },
    ],
    [
      'all written is none either',
      start,
      { input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 13 },
      { input: 0, cacheRead: 0, cacheWrite: 13, output: 1 },
    ],
    [
      'of nothing after nothing is nothing',
      { input_tokens: 0 },
      { input_tokens: 0, cache_read_input_tokens: 0 },
      { input: 0, cacheRead: 0 },
    ],
    ['may be the first', undefined, { input_tokens: 0, output_tokens: 9 }, { input: 0, output: 9 }],
  ])('%s', (_, before, report, usage) => {
    expect(decodeUsage(withReport(before, report))).toEqual(usage)
  })
})

test('what clients are told is read back as it was', () => {
  const number = fc.nat({ max: 1e9 })
  const any = fc.record(
    { input: number, output: number, cacheRead: number, cacheWrite: number, reasoning: number },
    { requiredKeys: ['input', 'output'] },
  )
  fc.assert(
    fc.property(any, fc.option(fc.double({ min: 0.001, max: 1, noNaN: true })), (usage, hour) => {
      const cacheWrite1h = hour === null ? 0 : Math.ceil((usage.cacheWrite ?? 0) * hour)
      const whole = cacheWrite1h === 0 ? usage : { ...usage, cacheWrite1h }
      expect(decodeUsage(encodeUsage(whole))).toEqual(whole)
      expect(decodeUsage(encodeUsageDelta(usage))).toEqual(usage)
    }),
  )
  expect(encodeUsageDelta({})).toMatchObject({ input_tokens: 0, output_tokens: 0, cache_read_input_tokens: null })
})

test('searches are told where there were any', () => {
  expect(encodeSearches(0)).toEqual({})
  expect(encodeSearches(2)).toEqual({ server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 } })
})

test.each([
  [{ speed: 'fast', service_tier: 'standard' }, 'fast', undefined],
  [{ speed: 'standard', service_tier: 'priority' }, 'priority', 'priority'],
  [{ service_tier: 'batch' }, 'batch', 'batch'],
  [{ service_tier: null }, undefined, undefined],
])('the tier of %j is %p', (raw, tier, told) => {
  expect(tierIn(raw)).toBe(tier as never)
  expect(encodeTier(tier)).toBe(told as never)
  expect(decodeBilled({ ...raw, output_tokens: 1 })?.output).toBe(1)
})
