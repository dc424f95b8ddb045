// What made a cost: lines that come to it, and none where they would not.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Price } from '../../src/catalogue/model.ts'
import type { Usage } from '../../src/ir/usage.ts'
import { billBy } from '../../src/ledger/bill.ts'
import { costOf } from '../../src/ledger/cost.ts'
import type { Settlement } from '../../src/ledger/ledger.ts'

const RATES = { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 }
const LONG: Price = { ...RATES, long: { ...RATES, input: 10, output: 37.5, above: 200_000 } }
const KINDS: Price = { ...RATES, audio: { input: 40, cacheRead: 4, output: 80 } }

type By = Pick<Settlement, 'serverTools' | 'pictures'>
const billed = (usage: Usage, price: Price, by: By = {}, inForce = price) =>
  billBy(inForce, usage, { ...costOf(usage, by, price), serverTools: by.serverTools, prices: () => undefined })
const told = (...of: Parameters<typeof billed>) =>
  billed(...of)?.lines.map(({ what, tool = '', count, usd, microUsd }) => [
    `${what} ${tool}`.trim(),
    count,
    usd,
    microUsd,
  ])

test.each<[string, Usage, Price, By, (string | number | undefined)[][]]>([
  ['nothing', {}, RATES, {}, []],
  [
    'each class',
    { input: 100, cacheRead: 40, cacheWrite: 8, output: 7 },
    RATES,
    {},
    [
      ['input', 100, 5, 500],
      ['cache_read', 40, 0.5, 20],
      ['cache_write', 8, 6.25, 50],
      ['output', 7, 25, 175],
    ],
  ],
  [
    'what is kept for an hour, apart',
    { cacheWrite: 8, cacheWrite1h: 3 },
    { ...RATES, cacheWrite1h: 10 },
    {},
    [
      ['cache_write', 5, 6.25, 31.25],
      ['cache_write_1h', 3, 10, 30],
    ],
  ],
  [
    'a class of service in its prices',
    { input: 100, output: 2, serviceTier: 'flex' },
    { ...RATES, serviceTiers: { flex: 0.5 } },
    {},
    [
      ['input', 100, 2.5, 250],
      ['output', 2, 12.5, 25],
    ],
  ],
  [
    'sound, apart from text',
    { input: 100, audioInput: 60, output: 9, audioOutput: 9 },
    KINDS,
    {},
    [
      ['audio_input', 60, 40, 2400],
      ['audio_output', 9, 80, 720],
      ['input', 40, 5, 200],
    ],
  ],
  [
    'calls and pictures',
    { output: 2 },
    { ...RATES, perCall: { web_search: 0.01 }, perImage: { default: 0.04 } },
    { serverTools: { web_search: 3, other: 2 }, pictures: { count: 2 } },
    [
      ['output', 2, 25, 50],
      ['calls web_search', 3, 0.01, 30_000],
      ['pictures', undefined, undefined, 80_000],
    ],
  ],
  [
    'what the provider told',
    { input: 9, charged: 1234 },
    { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, asTold: true },
    {},
    [['told', undefined, undefined, 1234]],
  ],
])('lines of %s', (_what, usage, price, by, lines) => {
  expect(told(usage, price, by)).toEqual(lines)
})

test('rounds at the same price are one line, and others stand by themselves', () => {
  const apart = [
    { usage: { input: 30, output: 1 } },
    { usage: { input: 200_001 } },
    { model: 'b', usage: { input: 7 } },
  ]
  const usage = { input: 200_048, output: 3, apart }
  const prices = (id: string): Price | undefined => (id === 'b' ? RATES : undefined)
  const charged = {
    costMicroUsd: costOf(usage, {}, LONG, prices).costMicroUsd,
    feesMicroUsd: 0,
    serverTools: undefined,
  }
  expect(billBy(LONG, usage, { ...charged, prices })).toMatchObject({
    lines: [
      { what: 'input', count: 40, usd: 5, microUsd: 200 },
      { what: 'output', count: 3, usd: 25 },
      { what: 'input', count: 200_001, usd: 10 },
      { what: 'input', model: 'b', count: 7, usd: 5 },
    ],
    above: 200_000,
  })
})

test('says which prices they are', () => {
  const usage = { input: 200_001, serviceTier: 'fast', inferenceGeo: 'us' }
  const price = { ...LONG, serviceTiers: { fast: 2, us: 1.1 } }
  expect(billed(usage, price)).toMatchObject({
    lines: [{ what: 'input', usd: 22 }],
    ...{
      above: 200_000,
      factors: [
        ['fast', 2],
        ['us', 1.1],
      ],
    },
  })
  expect(billed({ input: 200_000 }, price)).toMatchObject({ lines: [{ usd: 5 }], above: undefined, factors: [] })
})

test.each<[string, Usage, Price, By]>([
  ['tokens', { input: 100 }, { ...RATES, input: 6 }, {}],
  ['calls', { input: 100 }, { ...RATES, perCall: { web_search: 0.02 } }, { serverTools: { web_search: 1 } }],
])('another price of %s tells nothing', (_what, usage, price, by) => {
  const before = { ...RATES, perCall: { web_search: 0.03 } }
  expect(billed(usage, before, by, price)).toBeUndefined()
})

test('the lines come to the cost, whatever was used', () => {
  const tokens = fc.nat(2_000_000)
  const usages = fc.record(
    {
      ...{ input: tokens, cacheRead: tokens, cacheWrite: tokens, output: tokens },
      ...{ audioInput: tokens, audioOutput: tokens, imageInput: tokens, imageOutput: tokens },
      serviceTier: fc.constantFrom('flex', 'priority', 'other'),
    },
    { requiredKeys: [] },
  )
  const price: Price = {
    ...{ ...LONG, ...KINDS, image: { input: 8, cacheRead: 2, output: 30 } },
    ...{ serviceTiers: { flex: 0.5, priority: 1.75 }, perCall: { web_search: 0.01 } },
  }
  fc.assert(
    fc.property(usages, fc.nat(20), (usage, searches) => {
      const by = { serverTools: { web_search: searches } }
      const { lines = [] } = billed(usage, price, by) ?? {}
      const sum = lines.reduce((all, { microUsd }) => all + microUsd, 0)
      expect(Math.abs(sum - costOf(usage, by, price).costMicroUsd)).toBeLessThanOrEqual(0.51)
      for (const { count } of lines) expect(count).toBeGreaterThanOrEqual(0)
    }),
  )
})
