// Cerebras.

import type { Preset } from '../preset.ts'

export const cerebras: Preset = {
  name: 'cerebras',
  title: 'Cerebras',
  wires: ['chat-completions'],
  auth: 'bearer',
  baseUrl: 'https://api.cerebras.ai/v1',
  env: { credential: ['CEREBRAS_API_KEY'] },
  credentialShape: '^csk-',
  listsModels: true,
  priceMap: 'cerebras',
  models: [
    {
      ...{ id: 'gpt-oss-120b', name: 'GPT OSS 120B', family: 'gpt-oss', released: '2025-08-05' },
      ...{ context: 131_072 },
      price: { input: 0.35, output: 0.75 },
    },
    {
      ...{ id: 'qwen-3.8-27b', name: 'Qwen 3.8 27B', family: 'qwen', images: true, released: '2026-09-03' },
      ...{ context: 65_536, maxOutput: 32_768 },
      price: { input: 0.99, output: 1.49 },
    },
  ],
  pricesOf: '2026-10-31',
  facts: [
    { of: 'URL', how: 'reported', on: '2026-11-27', source: 'docs of its users' },
    { of: 'models, prices', how: 'reported', on: '2026-10-31', source: 'models.dev and docs.rs/harn-vm' },
    { of: 'output limit of gpt-oss-120b', how: 'unverified', on: '2026-11-27', source: '' },
  ],
}
