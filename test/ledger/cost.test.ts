// Costs in whole micro-USD.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Price } from '../../src/catalogue/model.ts'
import { type PicturesMade, picturesOf } from '../../src/ir/pictures.ts'
import { CLASSES, type Usage } from '../../src/ir/usage.ts'
import { billedApart, costMicroUsd, costOf, feesMicroUsd, mostOfPictures } from '../../src/ledger/cost.ts'

const price = (input: number, output = 0, cacheRead = 0, cacheWrite = 0) => ({ input, output, cacheRead, cacheWrite })

const FREE = price(0)

const LONG = { ...price(1, 5, 0.1, 1.25), long: { ...price(2, 12, 0.3, 2), above: 100 } }
const REGION = { ...price(1, 5), serviceTiers: { fast: 2, us: 1.1 } }
const TIERS = { ...price(1, 5), serviceTiers: { flex: 0.5, priority: 1.75 } }

test.each([
  ['nothing', {}, price(5, 25), 0],
  [
    'each class at its price',
    { input: 1, cacheRead: 10, cacheWrite: 100, output: 1000 },
    price(5, 25, 0.5, 6.25),
    25_635,
  ],
  ['reasoning within output', { output: 10, reasoning: 8 }, price(0, 25), 250],
  ['half a micro-USD up', { input: 1 }, price(0.5), 1],
  ['less than half down', { input: 1 }, price(0.499999), 0],
  ['a half that floats miss', { input: 100 }, price(1.005), 101],
  ['another half that floats miss', { input: 1000 }, price(1.0005), 1001],
  ['rounded once over all classes', { input: 1, cacheRead: 1 }, price(0.25, 0, 0.25), 1],
  ['a tenth ten times', { input: 5 }, price(0.1), 1],
  ['a million tokens', { input: 1_000_000 }, price(5), 5_000_000],
  ['a hundred million tokens of a dear model', { output: 100_000_000 }, price(0, 75), 7_500_000_000],
  ['cents of a cheap one', { input: 3 }, price(0.05), 0],
  [
    'what is written for an hour apart',
    { cacheWrite: 100, cacheWrite1h: 40 },
    { ...price(0, 0, 0, 6.25), cacheWrite1h: 10 },
    775,
  ],
  ['a prompt as long as may be at the usual price', { input: 60, cacheRead: 40 }, LONG, 64],
  ['a longer one at its own, its answer too', { input: 60, cacheRead: 40, cacheWrite: 1, output: 10 }, LONG, 254],
  ['a class of service at its price', { input: 100, output: 10, serviceTier: 'flex' }, TIERS, 75],
  ['a dear one', { input: 100, output: 10, serviceTier: 'priority' }, TIERS, 263],
  ['one without a price at the usual', { input: 100, output: 10, serviceTier: 'constructor' }, TIERS, 150],
  ['any where classes have no prices', { input: 100, output: 10, serviceTier: 'flex' }, price(1, 5), 150],
  ['a region at its price', { input: 100, output: 10, inferenceGeo: 'us' }, REGION, 165],
  ['a class of service in a region', { input: 100, output: 10, serviceTier: 'fast', inferenceGeo: 'us' }, REGION, 330],
  ['a region without a price at the usual', { input: 100, output: 10, inferenceGeo: 'eu' }, REGION, 150],
  ['a long prompt in it', { input: 101, serviceTier: 'flex' }, { ...LONG, serviceTiers: { flex: 0.5 } }, 101],
  ['what is written for an hour like the rest', { cacheWrite: 100, cacheWrite1h: 40 }, price(0, 0, 0, 6.25), 625],
])('%s', (_what, usage, prices, cost) => {
  expect(costMicroUsd(usage, prices)).toBe(cost)
})

test('the highest cost still fits its column', () => {
  const dearest = { ...price(1e6, 1e6), serviceTiers: { fast: 1_000 } }
  expect(costMicroUsd({ input: 1e12, output: 1e12, serviceTier: 'fast' }, dearest)).toBe(Number.MAX_SAFE_INTEGER)
})

test('a model without a price costs nothing', () => {
  expect(costMicroUsd({ input: 1_000_000 }, undefined)).toBe(0)
})

describe('what an exchange costs', () => {
  const tokens = fc.integer({ min: 0, max: 2_000_000 })
  const rate = fc.integer({ min: 0, max: 100_000_000 })
  const rates = fc.record({ input: rate, output: rate, cacheRead: rate, cacheWrite: rate, cacheWrite1h: rate })
  const classes = { input: tokens, cacheRead: tokens, cacheWrite: tokens, output: tokens, cacheWrite1h: tokens }
  const usages = fc.record(classes, { requiredKeys: [] })

  type Scaled = { [name in 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'cacheWrite1h']: number }
  const perToken = (scaled: Scaled): Scaled => ({
    ...{ input: scaled.input / 1e6, output: scaled.output / 1e6, cacheRead: scaled.cacheRead / 1e6 },
    ...{ cacheWrite: scaled.cacheWrite / 1e6, cacheWrite1h: scaled.cacheWrite1h / 1e6 },
  })

  test('is the exact sum over the classes that are told, by the rates of its length, rounded half up', () => {
    fc.assert(
      fc.property(usages, rates, rates, fc.nat(3), (told, short, long, beyond) => {
        const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0 } = told
        const hour = Math.min(told.cacheWrite1h ?? 0, cacheWrite)
        const above = Math.max(0, input + cacheRead + cacheWrite + 1 - beyond)
        const by = input + cacheRead + cacheWrite > above ? long : short
        const exact =
          BigInt(input) * BigInt(by.input) +
          BigInt(cacheRead) * BigInt(by.cacheRead) +
          BigInt(cacheWrite - hour) * BigInt(by.cacheWrite) +
          BigInt(hour) * BigInt(by.cacheWrite1h) +
          BigInt(output) * BigInt(by.output)
        const usage = { ...told, ...(told.cacheWrite1h === undefined ? {} : { cacheWrite1h: hour }) }
        const price = { ...perToken(short), long: { ...perToken(long), above } }
        const tokens = Number((exact + 500_000n) / 1_000_000n)
        expect(costMicroUsd(usage, price)).toBe(Math.min(tokens, Number.MAX_SAFE_INTEGER))
        const calls = { serverTools: { web_search: 3 } }
        expect(costOf(usage, calls, { ...price, perCall: { web_search: 0.01 } })).toEqual({
          costMicroUsd: Math.min(tokens + 30_000, Number.MAX_SAFE_INTEGER),
          feesMicroUsd: 30_000,
        })
      }),
    )
  })
})

describe('fees of calls', () => {
  const price = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1, perCall: { web_search: 0.01, file_search: 0.0025 } }
  test.each<[string, Record<string, number> | undefined, number]>([
    ['none', undefined, 0],
    ['one search', { web_search: 1 }, 10_000],
    ['several tools', { web_search: 20, file_search: 3 }, 207_500],
    ['a tool without a price', { mcp: 9, web_search: 2 }, 20_000],
    ['what is no count', { web_search: -4, file_search: Number.NaN }, 0],
    ['a name of every object', { constructor: 3, __proto__: 2 } as never, 0],
  ])('of %s', (_what, calls, fees) => {
    expect(feesMicroUsd({ serverTools: calls }, price)).toBe(fees)
  })

  test('below a micro-USD are rounded once, over all of them', () => {
    const tiny = { ...price, perCall: { web_search: 0.000_000_3 } }
    expect([1, 2, 10].map((count) => feesMicroUsd({ serverTools: { web_search: count } }, tiny))).toEqual([0, 1, 3])
  })

  test('are nothing without a price', () => {
    expect(feesMicroUsd({ serverTools: { web_search: 5 } }, undefined)).toBe(0)
  })
})

describe('tokens of sound and pictures', () => {
  const price = {
    ...{ input: 2, output: 10, cacheRead: 1, cacheWrite: 2 },
    ...{ audio: { input: 40, cacheRead: 4, output: 80 }, image: { input: 8, cacheRead: 2, output: 30 } },
  }
  test.each<[string, Usage, number]>([
    ['none', { input: 100, output: 10 }, 300],
    ['sound heard', { input: 100, audioInput: 40, output: 10 }, 60 * 2 + 40 * 40 + 100],
    ['sound spoken', { input: 100, output: 10, audioOutput: 4 }, 200 + 6 * 10 + 4 * 80],
    ['pictures from a cache', { cacheRead: 50, imageCacheRead: 20, output: 1, imageOutput: 1 }, 30 + 20 * 2 + 30],
    ['more than there are', { input: 10, audioInput: 99, output: 0 }, 400],
  ])('%s', (_what, usage, cost) => expect(costMicroUsd(usage, price)).toBe(cost))

  test('cost as their class where they have no price of their own', () => {
    const { audio: _, image: __, ...plain } = price
    expect(costMicroUsd({ input: 100, audioInput: 40, output: 10, imageOutput: 10 }, plain)).toBe(300)
  })

  test('a cheaper kind never makes a whole cost less than nothing', () => {
    const cheap = { ...price, audio: { input: 0, cacheRead: 0, output: 0 } }
    expect(costMicroUsd({ input: 5, audioInput: 5, output: 3, audioOutput: 3 }, cheap)).toBe(0)
  })
})

describe('pictures', () => {
  const perImage = { 'low/1024x1024': 0.01, 'high/1024x1024': 0.16, '1024x1792': 0.09, high: 0.2, default: 0.05 }
  test.each<[string, Omit<PicturesMade, 'count'>, number]>([
    ['by quality and size', { quality: 'low', size: '1024x1024' }, 0.01],
    ['by size alone', { quality: 'low', size: '1024x1792' }, 0.09],
    ['by quality alone', { quality: 'high', size: '64x64' }, 0.2],
    ['by neither', { quality: 'low', size: '64x64' }, 0.05],
    ['of a quality that nobody told', { size: '1024x1792' }, 0.09],
    ['of a quality that nobody told, where no name is without one', { size: '1024x1024' }, 0.05],
    ['of which nothing is told', {}, 0.05],
  ])('%s', (_what, of, usd) => {
    expect(feesMicroUsd({ pictures: { count: 3, ...of } }, { ...FREE, perImage })).toBe(Math.round(usd * 3e6))
  })

  test('that no name fits cost as the dearest', () => {
    const few = { '1024x1024': 0.04, 'hd/1024x1024': 0.08 }
    expect(feesMicroUsd({ pictures: { count: 1, size: '9x9' } }, { ...FREE, perImage: few })).toBe(80_000)
  })

  test('are reserved for whole, rounded up, and nothing where none are asked for or none has a price', () => {
    const price = { ...FREE, perImage: { default: 0.000_000_7 } }
    expect(mostOfPictures({ count: 2 }, [FREE, price])).toBe(2)
    expect(mostOfPictures({ count: 2 }, [FREE, undefined])).toBe(0)
    expect(mostOfPictures(undefined, [price])).toBe(0)
  })

  test('are never reserved for less than they come to', () => {
    const word = fc.option(fc.constantFrom('low', 'high', 'hd'), { nil: undefined })
    const size = fc.option(fc.constantFrom('1024x1024', '1024x1792', '9x9'), { nil: undefined })
    fc.assert(
      fc.property(word, size, word, size, fc.nat(10), (asked, askedSize, told, toldSize, count) => {
        const price = { ...FREE, perImage }
        const request = picturesOf(count, { quality: asked, size: askedSize })
        const most = mostOfPictures(request, [undefined, price])
        // What was asked for is what is made; what was left open is the vendor's to choose.
        const made = picturesOf(count, { quality: asked, size: askedSize }, { quality: told, size: toldSize })
        expect(feesMicroUsd({ pictures: made }, price)).toBeLessThanOrEqual(most)
      }),
    )
  })
})

test('rounds that are billed by themselves are of the whole, whatever is told of them', () => {
  const tokens = fc.nat(300_000)
  const counts = fc.record({ input: tokens, cacheRead: tokens, cacheWrite: tokens, output: tokens })
  const model = fc.constantFrom('a', 'b', undefined)
  const rounds = fc.array(
    fc
      .record({ model, usage: counts })
      .map(({ model, usage }) => ({ usage, ...(model === undefined ? {} : { model }) })),
    { maxLength: 4 },
  )
  const own: Price = {
    ...{ input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 },
    long: { input: 2, output: 7, cacheRead: 0.2, cacheWrite: 2.5, above: 200_000 },
  }
  const other: Price = { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 }
  const prices = (id: string): Price | undefined => (id === 'a' ? other : undefined)
  fc.assert(
    fc.property(counts, rounds, (usage, apart) => {
      const billed = billedApart({ ...usage, apart }, own, prices)
      for (const name of CLASSES)
        expect(billed.reduce((sum, { usage: of }) => sum + (of[name] ?? 0), 0)).toBe(usage[name])
      expect(billed.map(({ price }) => price)).toEqual([
        own,
        ...apart.map(({ model }) => (model === 'a' ? other : own)),
      ])
      const sum = billed.reduce((all, { usage: of, price }) => all + costMicroUsd(of, price), 0)
      expect(Math.abs(costMicroUsd({ ...usage, apart }, own, prices) - sum)).toBeLessThanOrEqual(apart.length + 1)
    }),
  )
})

test('what its provider charged is all of it, and its price what it costs where that is not told', () => {
  const price: Price = {
    input: 2,
    output: 10,
    cacheRead: 2,
    cacheWrite: 2,
    perCall: { web_search: 0.01 },
    asTold: true,
  }
  const by = { serverTools: { web_search: 1 } }
  expect(costOf({ input: 100, charged: 1_234 }, by, price)).toEqual({ costMicroUsd: 1_234, feesMicroUsd: 0 })
  expect(costOf({ input: 100, charged: 0 }, by, price)).toEqual({ costMicroUsd: 0, feesMicroUsd: 0 })
  expect(costOf({ input: 100 }, by, price)).toEqual({ costMicroUsd: 10_200, feesMicroUsd: 10_000 })
})
