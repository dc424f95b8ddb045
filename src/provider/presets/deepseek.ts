// DeepSeek.

import type { Preset } from '../preset.ts'

export const deepseek: Preset = {
  name: 'deepseek',
  title: 'DeepSeek',
  wires: ['chat-completions'],
  auth: 'bearer',
  baseUrl: 'https://api.deepseek.com/v1',
  env: { credential: ['DEEPSEEK_API_KEY'] },
  credentialShape: '^sk-[0-9a-f]{32}$',
  quirks: { noDeveloperRole: true, maxTokensField: 'max_tokens' },
  listsModels: true,
  priceMap: 'deepseek',
  models: [
    {
      ...{ id: 'deepseek-v4-pro', name: 'DeepSeek V4 Pro', family: 'deepseek', released: '2026-08-12' },
      ...{ context: 1_048_576, maxOutput: 384_000 },
      price: { input: 1.32, output: 3.96, cacheRead: 0.044 },
    },
    {
      ...{
        id: 'deepseek-flash',
        name: 'DeepSeek V4.1 Flash',
        family: 'deepseek',
        images: true,
        released: '2026-09-08',
      },
      ...{ context: 1_000_000, maxOutput: 384_000 },
    },
  ],
  pricesOf: '2026-08-17',
  facts: [
    { of: 'headers, models', how: 'documented', on: '2026-11-27', source: 'api-docs.deepseek.com' },
    { of: 'URL with /v1', how: 'reported', on: '2026-11-27', source: 'docs.pipeshub.com' },
    { of: 'limits, price of V4 Pro', how: 'reported', on: '2026-08-17', source: 'models.dev, of the pricing page' },
    { of: 'price of Flash at peak hours', how: 'unverified', on: '2026-11-27', source: '' },
  ],
  note: 'The price is that of peak hours; others cost half as much.',
}
