// Groq.

import type { Preset } from '../preset.ts'

export const groq: Preset = {
  name: 'groq',
  title: 'Groq',
  wires: ['chat-completions', 'responses'],
  auth: 'bearer',
  baseUrl: 'https://api.groq.com/openai/v1',
  env: { credential: ['GROQ_API_KEY'] },
  credentialShape: '^gsk_',
  quirks: { rejects: ['logprobs', 'top_logprobs', 'logit_bias'] },
  listsModels: true,
  priceMap: 'groq',
  models: [
    {
      ...{ id: 'openai/gpt-oss-120b', name: 'GPT OSS 120B', family: 'gpt-oss', released: '2025-08-05' },
      ...{ context: 131_072, maxOutput: 65_536 },
      price: { input: 0.15, output: 0.6, cacheRead: 0.075 },
    },
    {
      ...{ id: 'openai/gpt-oss-20b', name: 'GPT OSS 20B', family: 'gpt-oss', released: '2025-08-05' },
      ...{ context: 131_072, maxOutput: 65_536 },
      price: { input: 0.075, output: 0.3, cacheRead: 0.0375 },
    },
  ],
  pricesOf: '2026-05-27',
  facts: [
    { of: 'URL, refused members', how: 'documented', on: '2026-11-27', source: 'console.groq.com/docs/openai' },
    { of: 'models, prices', how: 'reported', on: '2026-05-27', source: 'models.dev' },
  ],
}
