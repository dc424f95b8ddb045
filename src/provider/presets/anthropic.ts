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
      ...{ context: 1_000_000, maxOutput: 128_000 },
      price: { ...cached(4, 20), cacheRead: 0.2 },
      quirks: { alwaysThinks: true },
    },
    {
      ...{ id: 'claude-fable-5-2', name: 'Claude Fable 5.2', family: 'fable', images: true, released: '2026-11-09' },
      ...{ context: 1_000_000, maxOutput: 128_000 },
      price: { ...cached(8, 40), cacheRead: 0.2 },
      quirks: { alwaysThinks: true },
    },
    {
      ...{ id: 'claude-opus-5', name: 'Claude Opus 5', family: 'opus', images: true, released: '2026-07-24' },
      ...{ context: 1_000_000, maxOutput: 128_000, price: cached(5, 25) },
    },
    {
      ...{ id: 'claude-sonnet-5-5', name: 'Claude Sonnet 5.5', family: 'sonnet', images: true },
      ...{ context: 1_000_000, maxOutput: 128_000 },
      price: { ...cached(2, 10), cacheRead: 0.1 },
    },
    {
      ...{ id: 'claude-opus-4-6', name: 'Claude Opus 4.6', family: 'opus', images: true },
      ...{ context: 1_000_000, maxOutput: 128_000, price: cached(5, 25) },
    },
    {
      ...{ id: 'claude-haiku-5-5', name: 'Claude Haiku 5.5', family: 'haiku', images: true, released: '2026-10-07' },
      ...{ context: 1_000_000, maxOutput: 128_000 },
      price: { ...cached(0.1, 0.5), long: { above: 100_000, ...cached(0.5, 2.5) } },
    },
  ],
  pricesOf: '2026-11-28',
  facts: [
    { of: 'URL, headers', how: 'documented', on: '2026-11-27', source: 'platform.claude.com/docs' },
    {
      of: 'models, prices',
      how: 'documented',
      on: '2026-11-28',
      source: "platform.claude.com/docs/en/models, each model's overview",
    },
    {
      of: 'cache prices of Sonnet 5.5 and Fable 5.2',
      how: 'reported',
      on: '2026-11-28',
      source: 'releases of PromptFuel and rightsize, of the pricing page',
    },
    { of: 'a write of an hour by Haiku 5.5 past 100,000 tokens', how: 'unverified', on: '2026-11-28', source: '' },
  ],
}
