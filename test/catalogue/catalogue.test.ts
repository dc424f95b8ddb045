// The built-in models, and the names that lead to them.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { BUILTIN_ALIASES, BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import { createCatalogue } from '../../src/catalogue/catalogue.ts'
import type { Usage } from '../../src/ir/usage.ts'
import { costMicroUsd } from '../../src/ledger/cost.ts'

const plain = createCatalogue({ models: BUILTIN_MODELS, aliases: BUILTIN_ALIASES })
const branded = createCatalogue({
  models: BUILTIN_MODELS,
  aliases: {
    ...BUILTIN_ALIASES,
    fast: 'vendorA-haiku-4-5',
    'vendorA-best': 'vendorA-opus-4-8',
    'vendorA-opus-9.9': 'vendorA-opus-4-7',
    'gpt-4': 'vendorB-4o',
  },
  brands: [
    { neutral: 'vendorA', branded: 'claude' },
    { neutral: 'vendorB', branded: 'gpt' },
  ],
})

const IDS = [
  'vendorA-opus-4-8',
  'vendorA-opus-4-7',
  'vendorA-sonnet-5',
  'vendorA-sonnet-4-6',
  'vendorA-haiku-4-5',
  'vendorB-5.5',
  'vendorB-5.4',
  'vendorB-5.4-mini',
  'vendorB-4o',
  'vendorB-4',
  'vendorB-image-1',
  'vendorB-imagegen-3',
]

describe('the built-in models', () => {
  test('stand in the order of the contract', () => {
    expect(plain.list().map((model) => model.id)).toEqual(IDS)
  })

  test.each([
    ['vendorA-opus-4-8', 'vendor_a', 'opus', ['text', 'image'], ['text']],
    ['vendorA-sonnet-4-6', 'vendor_a', 'sonnet', ['text', 'image'], ['text']],
    ['vendorA-haiku-4-5', 'vendor_a', 'haiku', ['text', 'image'], ['text']],
    ['vendorB-5.4-mini', 'vendor_b', 'codex', ['text', 'image'], ['text']],
    ['vendorB-4o', 'vendor_b', 'other', ['text', 'image'], ['text']],
    ['vendorB-4', 'vendor_b', 'other', ['text'], ['text']],
    ['vendorB-image-1', 'vendor_b', 'image', ['text'], ['image']],
    ['vendorB-imagegen-3', 'vendor_b', 'image', ['text'], ['image']],
  ] as const)('%s is of %s, family %s, with the modalities of the contract', (id, provider, family, input, output) => {
    expect(plain.resolve(id)).toMatchObject({
      provider,
      family,
      inputModalities: [...input],
      outputModalities: [...output],
      kind: output[0],
    })
  })

  test('have a window, a cap, prices and a date that make sense', () => {
    for (const model of BUILTIN_MODELS) {
      expect(model.maxOutput).toBeGreaterThan(0)
      expect(model.maxOutput).toBeLessThanOrEqual(model.contextWindow)
      expect(model.price.output).toBeGreaterThan(0)
      expect(model.upstream).toBe(model.id)
      expect(Number.isInteger(model.createdAt)).toBe(true)
      expect(model.tokensPerImage > 0).toBe(model.kind === 'image')
    }
  })
})

describe('built-in prices', () => {
  const costOf = (id: string, usage: Usage): number => costMicroUsd(usage, plain.resolve(id)?.price)

  // Per million tokens of each class, by the vendors' lists of 2026-11.
  test.each([
    ['vendorA-opus-4-8', [5, 25, 0.5, 6.25, 10]],
    ['vendorA-sonnet-5', [2, 10, 0.2, 2.5, 4]],
    ['vendorA-sonnet-4-6', [3, 15, 0.3, 3.75, 6]],
    ['vendorA-haiku-4-5', [1, 5, 0.1, 1.25, 2]],
    ['vendorB-5.5', [5, 30, 0.5, 5, 5]],
    ['vendorB-5.4', [2.5, 15, 0.25, 2.5, 2.5]],
    ['vendorB-5.4-mini', [0.75, 4.5, 0.075, 0.75, 0.75]],
  ])('of %s', (id, usd) => {
    const classes: Usage[] = [
      { input: 1_000 },
      { output: 1_000 },
      { cacheRead: 1_000 },
      { cacheWrite: 1_000 },
      { cacheWrite: 1_000, cacheWrite1h: 1_000 },
    ]
    expect(classes.map((usage) => costOf(id, usage))).toEqual(usd.map((price) => price * 1_000))
  })

  test('of long prompts, and of their answers', () => {
    const short = { input: 200_000, cacheRead: 72_000, output: 1_000 }
    expect(costOf('vendorB-5.5', short)).toBe(200_000 * 5 + 72_000 * 0.5 + 1_000 * 30)
    expect(costOf('vendorB-5.5', { ...short, input: 200_001 })).toBe(200_001 * 10 + 72_000 + 1_000 * 45)
    expect(costOf('vendorB-5.4', { ...short, input: 300_000 })).toBe(300_000 * 5 + 72_000 * 0.5 + 1_000 * 22.5)
  })

  test.each([
    ['vendorA-opus-4-8', 'fast', 2],
    ['vendorB-5.5', 'priority', 2.5],
    ['vendorB-5.5', 'fast', 2.5],
    ['vendorB-5.5', 'flex', 0.5],
    ['vendorB-5.4', 'priority', 2],
    ['vendorB-5.4', 'flex', 0.5],
    ['vendorB-5.4-mini', 'fast', 2],
    ['vendorB-5.4-mini', 'flex', 0.5],
    ['vendorB-4o', 'priority', 1.7],
    ['vendorA-opus-4-8', 'priority', 1],
  ])('of %s in the class %s', (id, serviceTier, times) => {
    const usage: Usage = { input: 1_000, cacheRead: 2_000, output: 100 }
    expect(costOf(id, { ...usage, serviceTier })).toBe(costOf(id, usage) * times)
  })

  test.each([
    ['vendorA-opus-4-8', 1.1],
    ['vendorA-opus-4-7', 1.1],
    ['vendorA-sonnet-5', 1.1],
    ['vendorA-sonnet-4-6', 1.1],
    ['vendorA-haiku-4-5', 1],
  ])('of %s where its inference is kept to the United States', (id, times) => {
    const usage: Usage = { input: 1_000, cacheRead: 2_000, cacheWrite: 4_000, output: 100 }
    expect(costOf(id, { ...usage, inferenceGeo: 'us' })).toBe(Math.round(costOf(id, usage) * times))
  })
})

describe('a name resolves', () => {
  test.each([
    ['its exact id', 'vendorA-opus-4-8', 'vendorA-opus-4-8'],
    ['an id that holds a dot', 'vendorB-5.5', 'vendorB-5.5'],
    ['auto', 'auto', 'vendorA-opus-4-8'],
    ['the dotted form', 'vendorA-opus-4.8', 'vendorA-opus-4-8'],
    ['dots for every dash', 'vendorA.sonnet.4.6', 'vendorA-sonnet-4-6'],
    ['the dotted form of an image model', 'vendorB-image.1', 'vendorB-image-1'],
  ])('by %s', (_, name, id) => {
    expect(plain.resolve(name)?.id).toBe(id)
  })

  test.each([
    ['the branded id', 'claude-opus-4-8', 'vendorA-opus-4-8'],
    ['the branded id, dotted', 'claude-opus-4.8', 'vendorA-opus-4-8'],
    ['the branded id that holds a dot', 'gpt-5.4-mini', 'vendorB-5.4-mini'],
    ['the neutral id still', 'vendorA-opus-4-8', 'vendorA-opus-4-8'],
    ['an alias without a brand', 'fast', 'vendorA-haiku-4-5'],
    ['a branded alias', 'claude-best', 'vendorA-opus-4-8'],
    ['a dotted alias before its dots are turned', 'vendorA-opus-9.9', 'vendorA-opus-4-7'],
    ['that dotted alias, branded', 'claude-opus-9.9', 'vendorA-opus-4-7'],
    ['an alias before a branded id of the same name', 'gpt-4', 'vendorB-4o'],
  ])('by %s', (_, name, id) => {
    expect(branded.resolve(name)?.id).toBe(id)
  })

  test.each([
    ['a dot of its own turned', 'vendorB-5-5'],
    ['dots where turning them leads to no id', 'vendorB-5.4.mini'],
    ['another case', 'VendorA-opus-4-8'],
    ['blanks around it', ' auto'],
    ['nothing in it', ''],
    ['a dotted alias', 'au.to'],
    ['an alias only once its dots are turned', 'vendorA.best'],
    ['the name of a member of objects', 'constructor'],
    ['a brand nobody set', 'claude-opus-4-8'],
  ])('to nothing with %s', (_, name) => {
    expect(plain.resolve(name)).toBeUndefined()
  })

  test('by id whatever the aliases and brands are', () =>
    fc.assert(
      fc.property(
        fc.dictionary(fc.oneof(fc.string(), fc.constantFrom(...IDS)), fc.constantFrom(...IDS)),
        fc.array(fc.record({ neutral: fc.constantFrom('vendorA', 'vendorB'), branded: fc.string({ minLength: 1 }) })),
        (aliases, brands) => {
          const catalogue = createCatalogue({ models: BUILTIN_MODELS, aliases, brands })
          for (const id of IDS) expect(catalogue.resolve(id)?.id).toBe(id)
          for (const [alias, id] of Object.entries(aliases)) {
            if (!IDS.includes(alias)) expect(catalogue.resolve(alias)?.id).toBe(id)
          }
        },
      ),
    ))
})
