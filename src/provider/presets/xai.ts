// xAI.

import type { Preset } from '../preset.ts'

export const xai: Preset = {
  name: 'xai',
  title: 'xAI',
  wires: ['responses', 'chat-completions'],
  auth: 'bearer',
  baseUrl: 'https://api.x.ai/v1',
  env: { credential: ['XAI_API_KEY'] },
  credentialShape: '^xai-',
  tellsCost: true,
  listsModels: true,
  priceMap: 'xai',
  models: [
    {
      ...{ id: 'grok-4.7', name: 'Grok 4.7', family: 'grok', images: true, released: '2026-09-21' },
      ...{ context: 500_000, maxOutput: 500_000 },
      price: { input: 2, output: 6, cacheRead: 0.5, long: { above: 200_000, input: 4, output: 12, cacheRead: 1 } },
    },
    {
      ...{ id: 'grok-4.5', name: 'Grok 4.5', family: 'grok', images: true, released: '2026-06-29' },
      ...{ context: 500_000, maxOutput: 500_000 },
      price: { input: 2, output: 6, cacheRead: 0.5, long: { above: 200_000, input: 4, output: 12, cacheRead: 1 } },
    },
  ],
  pricesOf: '2026-11-27',
  facts: [
    { of: 'URL, wires', how: 'documented', on: '2026-11-27', source: 'docs.x.ai' },
    { of: 'cost in its figures', how: 'documented', on: '2026-11-28', source: 'docs.x.ai/developers/cost-tracking' },
    { of: 'models, prices', how: 'reported', on: '2026-11-27', source: 'models.dev, of docs.x.ai' },
  ],
  note: 'What its answers say that they cost (`usage.cost_in_usd_ticks`) counts for models that are given no price.',
}
