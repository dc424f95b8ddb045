// OpenAI, by its own API. Models that it has shut down keep their ids here: another base URL may still have them.

import type { Preset } from '../preset.ts'

const BEYOND = 272_000

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
      ...{ context: 1_050_000, maxOutput: 128_000 },
      price: {
        ...{ input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 },
        long: { above: BEYOND, input: 4, output: 15, cacheRead: 0.4, cacheWrite: 5 },
      },
      quirks: { noSampling: true },
    },
    {
      ...{ id: 'gpt-5.6-terra', name: 'GPT-5.6 Terra', family: 'codex', images: true, released: '2026-07-09' },
      ...{ context: 1_050_000, maxOutput: 128_000, price: { input: 2.5, output: 15, cacheRead: 0.25 } },
      quirks: { noSampling: true },
    },
    {
      ...{ id: 'gpt-5.6-luna', name: 'GPT-5.6 Luna', family: 'codex', images: true, released: '2026-07-09' },
      ...{ context: 1_050_000, maxOutput: 128_000, price: { input: 1, output: 6, cacheRead: 0.1 } },
      quirks: { noSampling: true },
    },
    // What its pictures are made of is told by their usage: its text and its pictures have prices of their own.
    { id: 'gpt-image-2.6-sunburst', name: 'GPT Image 2.6 Sunburst', family: 'image', kind: 'image' },
  ],
  pricesOf: '2026-11-27',
  facts: [
    { of: 'URL, headers', how: 'documented', on: '2026-11-27', source: 'developers.openai.com/api/docs' },
    { of: 'models', how: 'documented', on: '2026-11-27', source: 'developers.openai.com/api/docs/deprecations' },
    { of: 'prices of 5.5, 5.4, 5.4 mini', how: 'reported', on: '2026-06-04', source: 'reports of the pricing page' },
    { of: 'prices and limits of 5.6', how: 'reported', on: '2026-11-27', source: 'models.dev' },
  ],
}
