// OpenAI, by its own API. Models that it has shut down keep their ids here: another base URL may still have them.

import type { Preset } from '../preset.ts'

const WIDE = { context: 1_050_000, maxOutput: 128_000 }

/** A write to the cache costs a quarter more than its input; long prompts cost twice as much, and their answers half as much again. */
const lengthy = (input: number, output: number, cacheRead: number) => ({
  ...{ input, output, cacheRead, cacheWrite: input * 1.25 },
  long: { above: 272_000, input: input * 2, output: output * 1.5, cacheRead: cacheRead * 2, cacheWrite: input * 2.5 },
})

export const openai: Preset = {
  name: 'openai',
  title: 'OpenAI',
  provider: 'vendor_b',
  wires: ['responses', 'chat-completions', 'images', 'embeddings', 'moderations', 'audio'],
  auth: 'bearer',
  baseUrl: 'https://api.openai.com/v1',
  env: { credential: ['OPENAI_API_KEY'], baseUrl: 'OPENAI_BASE_URL' },
  credentialShape: '^sk-(?:proj|svcacct|None)-|^sk-[0-9A-Za-z]{20}T3BlbkFJ',
  brand: { vendor_b: 'gpt' },
  listsModels: true,
  priceMap: 'openai',
  models: [
    { id: 'gpt-5.5', name: 'GPT-5.5', context: 1_050_000, maxOutput: 128_000 },
    { id: 'gpt-5.4', name: 'GPT-5.4', context: 1_050_000, maxOutput: 128_000 },
    { id: 'gpt-5.4-mini', name: 'GPT-5.4 mini', context: 400_000, maxOutput: 128_000 },
    { id: 'gpt-4o', name: 'GPT-4o', context: 128_000, maxOutput: 16_384 },
    { id: 'gpt-4', name: 'GPT-4', gone: '2026-10-23' },
    { id: 'gpt-image-1', name: 'GPT Image 1', gone: '2026-10-23' },
    { id: 'gpt-imagegen-3', upstream: 'dall-e-3', name: 'DALL·E 3', gone: '2026-05-12' },
    {
      ...{ id: 'gpt-5.6-sol', name: 'GPT-5.6 Sol', family: 'codex', images: true, released: '2026-07-09' },
      ...{ ...WIDE, price: lengthy(2, 10, 0.2) },
      quirks: { noSampling: true },
    },
    {
      ...{ id: 'gpt-5.6-terra', name: 'GPT-5.6 Terra', family: 'codex', images: true, released: '2026-07-09' },
      ...{ ...WIDE, price: lengthy(2, 12, 0.2) },
      quirks: { noSampling: true },
    },
    {
      ...{ id: 'gpt-5.6-luna', name: 'GPT-5.6 Luna', family: 'codex', images: true, released: '2026-07-09' },
      ...{ ...WIDE, price: lengthy(0.2, 1.2, 0.02) },
      quirks: { noSampling: true },
    },
    {
      ...{ id: 'gpt-6-luna', name: 'GPT-6 Luna', family: 'codex', images: true, released: '2026-09-22' },
      ...{ ...WIDE, price: lengthy(0.1, 0.5, 0.01) },
      quirks: { noSampling: true },
    },
    {
      ...{ id: 'gpt-6.1-terra', name: 'GPT-6.1 Terra', family: 'codex', images: true, released: '2026-10-26' },
      ...{ ...WIDE, price: lengthy(1, 5, 0.05) },
      quirks: { noSampling: true },
    },
    {
      ...{ id: 'gpt-6.2-sol', name: 'GPT-6.2 Sol', family: 'codex', images: true },
      ...{ ...WIDE, price: lengthy(2, 10, 0.1) },
      quirks: { noSampling: true, alwaysThinks: true },
    },
    {
      ...{ id: 'gpt-6.2-astra', name: 'GPT-6.2 Astra', family: 'codex', images: true },
      ...{ ...WIDE, price: lengthy(8, 40, 0.4) },
      quirks: { noSampling: true, alwaysThinks: true },
    },
    {
      ...{ id: 'gpt-image-2.6-sunburst', name: 'GPT Image 2.6 Sunburst', family: 'image', kind: 'image' },
      // It writes no text: what it makes is pictures.
      price: { input: 5, output: 30, cacheRead: 1.25, image: { input: 8, output: 30, cacheRead: 2 } },
    },
  ],
  pricesOf: '2026-11-28',
  facts: [
    { of: 'URL, headers', how: 'documented', on: '2026-11-27', source: 'developers.openai.com/api/docs' },
    { of: 'models', how: 'documented', on: '2026-11-27', source: 'developers.openai.com/api/docs/deprecations' },
    { of: 'prices of 5.5, 5.4, 5.4 mini', how: 'reported', on: '2026-06-04', source: 'reports of the pricing page' },
    {
      of: 'prices and limits of 6 and later, price of Image 2.6',
      how: 'documented',
      on: '2026-11-28',
      source: 'developers.openai.com/api/docs/models',
    },
    {
      of: 'cache prices of 6 Luna, 6.1 Terra and 6.2 Astra, price of 5.6 Terra and Luna',
      how: 'reported',
      on: '2026-11-28',
      source: 'releases of PromptFuel and TokenMeter, of the pricing page',
    },
    {
      of: 'price of 5.6 Sol',
      how: 'reported',
      on: '2026-11-28',
      source: 'models.dev; twice as much by its own page, which held until 2026-11-21',
    },
  ],
}
