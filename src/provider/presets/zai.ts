// Z.AI.

import type { Preset } from '../preset.ts'

export const zai: Preset = {
  name: 'zai',
  title: 'Z.AI',
  wires: ['chat-completions'],
  auth: 'bearer',
  baseUrl: 'https://api.z.ai/api/paas/v4',
  env: { credential: ['ZAI_API_KEY', 'ZHIPU_API_KEY'] },
  credentialShape: '^[0-9a-f]{32}\\.[0-9A-Za-z]{16}$',
  quirks: { noDeveloperRole: true, maxTokensField: 'max_tokens' },
  listsModels: true,
  priceMap: 'zai',
  models: [
    {
      ...{ id: 'glm-5.3', name: 'GLM-5.3', family: 'glm', released: '2026-08-14' },
      ...{ context: 1_000_000, maxOutput: 131_072 },
      price: { input: 1.4, output: 4.4, cacheRead: 0.26 },
      quirks: { alwaysThinks: true },
    },
    {
      ...{ id: 'glm-4.7', name: 'GLM-4.7', family: 'glm', released: '2025-12-22' },
      ...{ context: 204_800, maxOutput: 131_072 },
      price: { input: 0.6, output: 2.2, cacheRead: 0.11 },
    },
  ],
  pricesOf: '2026-08-19',
  facts: [
    { of: 'URL', how: 'reported', on: '2026-11-27', source: 'models.dev' },
    { of: 'models, prices', how: 'reported', on: '2026-08-19', source: 'models.dev and reports of docs.z.ai' },
    { of: 'model list', how: 'unverified', on: '2026-11-27', source: '' },
  ],
}
