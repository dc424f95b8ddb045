// What the community's map of prices says of a model, in this configuration's words; entries of our own making, in its form.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { priceIn, type Sought } from '../../src/config/price-map.ts'
import { ENTRY_SCHEMAS } from '../../src/config/schema.ts'
import { checkShape } from '../../src/config/shape.ts'
import type { JsonObject } from '../../src/ir/json.ts'

const sought = (more: Partial<Sought> = {}): Sought => ({
  ...{ id: 'm', upstream: 'orca-3', provider: 'sea', kind: 'text', vendor: 'sea' },
  tokensPer: { second: 10, character: 1 },
  ...more,
})
const entry = (members: object): JsonObject => ({ litellm_provider: 'sea', ...members }) as JsonObject
const found = (members: object, more: Partial<Sought> = {}) => priceIn({ 'orca-3': entry(members) }, sought(more))

describe('an entry', () => {
  test.each<[string, object, object]>([
    [
      'of tokens alone: what is cached costs as input',
      { input_cost_per_token: 3e-6, output_cost_per_token: 1.5e-5 },
      { input: 3, output: 15, cache_read: 3, cache_write: 3 },
    ],
    [
      'with caches',
      {
        ...{ input_cost_per_token: 1.25e-6, output_cost_per_token: 1e-5, cache_read_input_token_cost: 1.25e-7 },
        ...{ cache_creation_input_token_cost: 1.5625e-6, cache_creation_input_token_cost_above_1hr: 2.5e-6 },
      },
      { input: 1.25, output: 10, cache_read: 0.125, cache_write: 1.5625, cache_write_1h: 2.5 },
    ],
    [
      'with a price of long prompts',
      {
        ...{ input_cost_per_token: 2e-6, output_cost_per_token: 4e-6 },
        ...{ input_cost_per_token_above_200k_tokens: 4e-6, output_cost_per_token_above_200k_tokens: 6e-6 },
        cache_read_input_token_cost_above_200k_tokens: 4e-7,
      },
      {
        ...{ input: 2, output: 4, cache_read: 2, cache_write: 2 },
        long_context: { above: 200_000, input: 4, output: 6, cache_read: 0.4, cache_write: 4 },
      },
    ],
    [
      'in tiers',
      {
        tiered_pricing: [
          { range: [0, 32_000], input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 },
          { range: [32_000, 128_000], input_cost_per_token: 2e-6, output_cost_per_token: 3e-6 },
        ],
      },
      {
        ...{ input: 1, output: 2, cache_read: 1, cache_write: 1 },
        long_context: { above: 32_000, input: 2, output: 3, cache_read: 2, cache_write: 2 },
      },
    ],
    [
      'with sound and pictures',
      {
        ...{ input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 },
        ...{ input_cost_per_audio_token: 3.2e-5, output_cost_per_audio_token: 6.4e-5 },
        ...{ input_cost_per_image_token: 8e-6, cache_read_input_image_token_cost: 2e-6 },
      },
      {
        ...{ input: 1, output: 2, cache_read: 1, cache_write: 1 },
        ...{ audio: { input: 32, output: 64 }, image: { input: 8, cache_read: 2 } },
      },
    ],
    [
      'with calls',
      {
        search_context_cost_per_query: Object.fromEntries(
          ['low', 'medium', 'high'].map((size) => [`search_context_size_${size}`, 0.01]),
        ),
        file_search_cost_per_1k_calls: 2.5,
      },
      { per_call: { web_search: 0.01, file_search: 0.0025 } },
    ],
    [
      'with classes of service',
      {
        ...{ input_cost_per_token: 2e-6, output_cost_per_token: 8e-6 },
        ...{ input_cost_per_token_priority: 3.5e-6, output_cost_per_token_priority: 1.4e-5 },
        ...{ input_cost_per_token_flex: 1e-6, output_cost_per_token_flex: 4e-6 },
        provider_specific_entry: { us: 1.1 },
      },
      {
        ...{ input: 2, output: 8, cache_read: 2, cache_write: 2 },
        service_tiers: { us: 1.1, priority: 1.75, flex: 0.5 },
      },
    ],
  ])('%s', (_what, members, price) => {
    expect(found(members)).toMatchObject({ entry: 'orca-3', left: [] })
    expect(found(members)?.price).toEqual(price)
  })

  test('says what has no place here', () => {
    const steps = { input_cost_per_token_above_128k_tokens: 2e-6, input_cost_per_token_above_512k_tokens: 4e-6 }
    const search = { search_context_size_low: 0.03, search_context_size_medium: 0.035, search_context_size_high: 0.05 }
    const told = found({
      ...{ input_cost_per_token: 1e-6, output_cost_per_token: 1e-6, ...steps, search_context_cost_per_query: search },
      ...{ code_interpreter_cost_per_session: 0.03 },
    })
    expect(told?.price).toMatchObject({ long_context: { above: 128_000, input: 2 }, per_call: { web_search: 0.05 } })
    expect(told?.left).toEqual([
      'prices above 512000 tokens',
      'searches of less context for less',
      'containers of code, which are billed by the session',
    ])
  })

  test('of seconds and characters is of the tokens they count for', () => {
    const heard = { kind: 'transcription', tokensPer: { second: 20, character: 1 } } as const
    expect(found({ input_cost_per_second: 1e-4 }, heard)?.price).toMatchObject({ input: 5, output: 0 })
    expect(found({ input_cost_per_character: 1.5e-5 }, { kind: 'speech' })?.price).toMatchObject({ input: 15 })
    expect(found({ input_cost_per_second: 1e-4 })).toBeUndefined()
  })

  test("follows a vendor's second name for its faster class", () => {
    const members = { input_cost_per_token: 1e-6, output_cost_per_token: 1e-6, input_cost_per_token_priority: 3e-6 }
    expect(found(members, { tiers: { priority: 2, fast: 2, flex: 0.5 } })?.price.service_tiers).toEqual({
      ...{ priority: 3, fast: 3, flex: 0.5 },
    })
  })

  test.each([
    ['of another vendor', { litellm_provider: 'lake', input_cost_per_token: 1e-6 }],
    ['of a vendor whose name begins alike', { litellm_provider: 'seaside', input_cost_per_token: 1e-6 }],
    ['of a limit alone', { max_tokens: 5 }],
    ['of words', { input_cost_per_token: '0.1', output_cost_per_token: null }],
    ['of what is no price', { input_cost_per_token: -1, output_cost_per_token: Number.POSITIVE_INFINITY }],
  ])('%s is none', (_what, members) => expect(found(members)).toBeUndefined())
})

describe('pictures', () => {
  const image = { kind: 'image' } as const
  test('have a price by quality and size, or by the pixel of one', () => {
    const map = {
      'orca-3': entry({ output_cost_per_image: 0.04 }),
      '1024-x-1024/orca-3': entry({ input_cost_per_image: 0.05 }),
      'hd/1024-x-1792/orca-3': entry({ input_cost_per_pixel: 6.539e-8 }),
      'sea/low/512-x-512/orca-3': entry({ output_cost_per_image: 0.01 }),
      '1024-x-1024/50-steps/orca-3': entry({ output_cost_per_image: 9 }),
      '1024-x-1024/other': entry({ output_cost_per_image: 9 }),
    }
    expect(priceIn(map, sought(image))?.price).toEqual({
      per_image: { default: 0.04, '1024x1024': 0.05, 'hd/1024x1792': 0.12, 'low/512x512': 0.01 },
    })
  })

  test('that are billed by their tokens have none by the picture', () => {
    const map = {
      'orca-3': entry({ input_cost_per_token: 5e-6, output_cost_per_image_token: 4e-5 }),
      'low/1024-x-1024/orca-3': entry({ input_cost_per_image: 0.011 }),
    }
    expect(priceIn(map, sought(image))?.price).toEqual({
      ...{ input: 5, output: 0, cache_read: 5, cache_write: 5, image: { output: 40 } },
    })
  })
})

test('names are sought with the vendor before them first, and part of a vendor is the vendor', () => {
  const [near, far] = [{ input_cost_per_token: 1e-6 }, { input_cost_per_token: 2e-6 }]
  const map = { 'orca-3': entry(far), 'sea/orca-3': { ...near, litellm_provider: 'sea_deep' } } as JsonObject
  expect(priceIn(map, sought())).toMatchObject({ entry: 'sea/orca-3', price: { input: 1 } })
  expect(priceIn({ 'orca-x': entry(far) }, sought({ also: ['orca-x'] }))?.entry).toBe('orca-x')
  const own = { 'mine/orca-3': { litellm_provider: 'any', ...near } } as JsonObject
  expect(priceIn(own, sought({ vendor: undefined, provider: 'mine' }))?.entry).toBe('mine/orca-3')
})

test('whatever a map says is a price that a configuration takes, or none', () => {
  const price = fc.oneof(
    fc.double({ min: 0, max: 2e3, noNaN: true }),
    fc.integer({ min: -1, max: 5000 }),
    fc.constant(null),
    fc.string(),
    fc.boolean(),
  )
  const names = [
    ...['input_cost_per_token', 'output_cost_per_token', 'cache_read_input_token_cost', 'output_cost_per_image'],
    ...['input_cost_per_token_above_200k_tokens', 'input_cost_per_token_above_0k_tokens', 'input_cost_per_token_flex'],
    ...['input_cost_per_audio_token', 'file_search_cost_per_1k_calls', 'input_cost_per_second'],
  ]
  const members = fc.dictionary(fc.constantFrom(...names), price, { maxKeys: 10 })
  const kind = fc.constantFrom('text', 'image', 'speech', 'transcription')
  fc.assert(
    fc.property(members, kind, (told, of) => {
      const read = found(told, { kind: of })
      if (read === undefined) return
      checkShape(ENTRY_SCHEMAS.models, { price: read.price }, (path, message) => {
        throw new Error(`${path}: ${message} ${JSON.stringify(told)}`)
      })
    }),
  )
})
