// Together AI.

import type { Preset } from '../preset.ts'

export const together: Preset = {
  name: 'together',
  title: 'Together AI',
  wires: ['chat-completions'],
  auth: 'bearer',
  baseUrl: 'https://api.together.ai/v1',
  env: { credential: ['TOGETHER_API_KEY'] },
  credentialShape: '^tgp_v1_',
  quirks: { noDeveloperRole: true, maxTokensField: 'max_tokens' },
  listsModels: true,
  priceMap: 'together_ai',
  models: [
    {
      ...{ id: 'moonshotai/Kimi-K3', name: 'Kimi K3', family: 'kimi', images: true, released: '2026-07-27' },
      price: { input: 3, output: 15, cacheRead: 0.3 },
    },
    {
      ...{ id: 'zai-org/GLM-5.3', name: 'GLM-5.3', family: 'glm', released: '2026-08-14' },
      ...{ context: 1_048_575, maxOutput: 262_144 },
      price: { input: 1.4, output: 4.4, cacheRead: 0.26 },
    },
    {
      ...{
        id: 'deepseek-ai/DeepSeek-V4-Pro-0813',
        name: 'DeepSeek V4 Pro',
        family: 'deepseek',
        released: '2026-08-12',
      },
      ...{ context: 1_048_576, maxOutput: 384_000 },
      price: { input: 1.32, output: 3.96, cacheRead: 0.13 },
    },
  ],
  pricesOf: '2026-09-23',
  facts: [
    { of: 'URL, headers', how: 'documented', on: '2026-11-27', source: 'docs.together.ai' },
    { of: 'models, prices', how: 'reported', on: '2026-09-23', source: 'models.dev' },
  ],
}
