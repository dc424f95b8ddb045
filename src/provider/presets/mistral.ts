// Mistral.

import type { Preset } from '../preset.ts'

export const mistral: Preset = {
  name: 'mistral',
  title: 'Mistral',
  wires: ['chat-completions'],
  auth: 'bearer',
  baseUrl: 'https://api.mistral.ai/v1',
  env: { credential: ['MISTRAL_API_KEY'] },
  quirks: { noDeveloperRole: true, maxTokensField: 'max_tokens', shortCallIds: true, noUserAfterTool: true },
  listsModels: true,
  priceMap: 'mistral',
  models: [
    {
      ...{ id: 'mistral-large-4', name: 'Mistral Large 4', family: 'mistral', images: true },
      ...{ context: 1_048_576 },
      price: { input: 1.36, output: 4.18, cacheRead: 0.14 },
    },
    {
      ...{
        id: 'mistral-medium-3-5',
        name: 'Mistral Medium 3.5',
        family: 'mistral',
        images: true,
        released: '2026-04-29',
      },
      ...{ context: 262_144, maxOutput: 262_144 },
      price: { input: 1.5, output: 7.5 },
    },
    {
      ...{ id: 'codestral-2508', name: 'Codestral 25.08', family: 'codestral', released: '2025-07-30' },
      ...{ context: 128_000, maxOutput: 128_000 },
      price: { input: 0.3, output: 0.9, cacheRead: 0.03 },
      quirks: { noReasoning: true },
    },
  ],
  pricesOf: '2026-10-20',
  facts: [
    { of: 'URL', how: 'reported', on: '2026-11-28', source: 'lava.so and others' },
    { of: 'models, prices', how: 'reported', on: '2026-10-06', source: 'models.dev, of docs.mistral.ai' },
    { of: 'context of Large 4', how: 'reported', on: '2026-11-28', source: 'vercel.com/ai-gateway, getmaxim.ai' },
    { of: 'output limit of Large 4', how: 'unverified', on: '2026-11-28', source: '' },
  ],
}
