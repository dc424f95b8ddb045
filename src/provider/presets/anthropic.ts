// Anthropic, by its own API.

import type { Preset } from '../preset.ts'

const cached = (input: number, output: number) => ({
  ...{ input, output, cacheRead: input / 10 },
  ...{ cacheWrite: input * 1.25, cacheWrite1h: input * 2 },
})

export const anthropic: Preset = {
  name: 'anthropic',
  title: 'Anthropic',
  provider: 'vendor_a',
  wires: ['messages'],
  auth: 'x-api-key',
  baseUrl: 'https://api.anthropic.com',
  env: { credential: ['ANTHROPIC_API_KEY'], baseUrl: 'ANTHROPIC_BASE_URL' },
  credentialShape: '^sk-ant-',
  versionHeader: { name: 'anthropic-version', value: '2023-06-01' },
  brand: { vendor_a: 'claude' },
  listsModels: true,
  priceMap: 'anthropic',
  models: [
    { id: 'claude-opus-4-8', name: 'Claude Opus 4.8', context: 1_000_000, maxOutput: 128_000, price: cached(5, 25) },
    { id: 'claude-opus-4-7', name: 'Claude Opus 4.7', context: 1_000_000, price: cached(5, 25) },
    { id: 'claude-sonnet-5', name: 'Claude Sonnet 5', context: 1_000_000, maxOutput: 128_000, price: cached(2, 10) },
    { id: 'claude-sonnet-4-6', name: 'Claude Sonnet 4.6', context: 1_000_000, maxOutput: 64_000, price: cached(3, 15) },
    {
      ...{ id: 'claude-haiku-4-5', also: ['claude-haiku-4-5-20251001'], name: 'Claude Haiku 4.5' },
      ...{ context: 200_000, maxOutput: 64_000, price: cached(1, 5) },
    },
    {
      ...{ id: 'claude-opus-5-5', name: 'Claude Opus 5.5', family: 'opus', images: true },
      ...{ context: 1_000_000, maxOutput: 128_000, price: { input: 4, output: 20 } },
      quirks: { alwaysThinks: true },
    },
    {
      ...{ id: 'claude-opus-5', name: 'Claude Opus 5', family: 'opus', images: true, released: '2026-07-24' },
      ...{ context: 1_000_000, maxOutput: 128_000, price: cached(5, 25) },
    },
    {
      ...{ id: 'claude-sonnet-5-5', name: 'Claude Sonnet 5.5', family: 'sonnet', images: true },
      ...{ context: 1_000_000, maxOutput: 128_000, price: { input: 2, output: 10 } },
    },
    {
      ...{ id: 'claude-opus-4-6', name: 'Claude Opus 4.6', family: 'opus', images: true },
      ...{ context: 1_000_000, maxOutput: 128_000, price: cached(5, 25) },
    },
    // Its price is told as "from" a figure: which of them counts when is not known.
    {
      ...{ id: 'claude-haiku-5-5', name: 'Claude Haiku 5.5', family: 'haiku', images: true },
      ...{ context: 1_000_000, maxOutput: 128_000 },
    },
  ],
  pricesOf: '2026-11-27',
  facts: [
    { of: 'URL, headers', how: 'documented', on: '2026-11-27', source: 'platform.claude.com/docs' },
    {
      of: 'models, prices',
      how: 'documented',
      on: '2026-11-27',
      source: 'platform.claude.com/docs/en/models/overview',
    },
    { of: 'cache prices of the 5.5 models', how: 'unverified', on: '2026-11-27', source: '' },
  ],
}
