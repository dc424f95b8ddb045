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
      ...{ also: ['deepseek-v4-flash'], context: 1_000_000, maxOutput: 384_000 },
      price: { input: 0.3, output: 1.2, cacheRead: 0.006 },
    },
  ],
  pricesOf: '2026-11-15',
  facts: [
    { of: 'headers, models, limits, prices', how: 'documented', on: '2026-11-28', source: 'api-docs.deepseek.com' },
    { of: 'URL with /v1', how: 'reported', on: '2026-11-27', source: 'docs.pipeshub.com' },
  ],
  note: 'The price is that of peak hours; others cost half as much: all but 01:00 to 04:00 and 06:00 to 10:00 UTC from Monday to Friday. Its Anthropic-style endpoint has another base URL, https://api.deepseek.com/anthropic, and is not set up here.',
}
