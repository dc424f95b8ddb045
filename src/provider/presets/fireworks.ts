// Fireworks AI.

import type { Preset } from '../preset.ts'

export const fireworks: Preset = {
  name: 'fireworks',
  title: 'Fireworks AI',
  wires: ['chat-completions', 'messages'],
  auth: 'bearer',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  env: { credential: ['FIREWORKS_API_KEY'] },
  credentialShape: '^fw_',
  versionHeader: { name: 'anthropic-version', value: '2023-06-01' },
  quirks: { noDeveloperRole: true },
  listsModels: true,
  priceMap: 'fireworks_ai',
  models: [
    {
      ...{
        id: 'glm-5p3',
        name: 'GLM 5.3',
        upstream: 'accounts/fireworks/models/glm-5p3',
        family: 'glm',
        released: '2026-08-14',
      },
      ...{ context: 1_048_573, maxOutput: 262_144 },
      price: { input: 1.4, output: 4.4, cacheRead: 0.26 },
      quirks: { alwaysThinks: true },
    },
    {
      ...{
        id: 'gpt-oss-120b',
        name: 'GPT OSS 120B',
        upstream: 'accounts/fireworks/models/gpt-oss-120b',
        family: 'gpt-oss',
        released: '2025-08-05',
      },
      ...{ context: 131_072, maxOutput: 32_768 },
      price: { input: 0.15, output: 0.6, cacheRead: 0.01 },
    },
  ],
  pricesOf: '2026-09-07',
  facts: [
    { of: 'URL, wires', how: 'documented', on: '2026-11-27', source: 'docs.fireworks.ai' },
    { of: 'models, prices', how: 'reported', on: '2026-09-07', source: 'models.dev' },
  ],
}
