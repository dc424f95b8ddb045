// Moonshot AI.

import type { Preset } from '../preset.ts'

export const moonshot: Preset = {
  name: 'moonshot',
  title: 'Moonshot AI',
  wires: ['chat-completions', 'responses'],
  auth: 'bearer',
  baseUrl: 'https://api.moonshot.ai/v1',
  env: { credential: ['MOONSHOT_API_KEY'] },
  quirks: { noDeveloperRole: true },
  listsModels: true,
  priceMap: 'moonshot',
  models: [
    {
      ...{ id: 'kimi-k3.1-pro', name: 'Kimi K3.1 Pro', family: 'kimi', images: true },
      ...{ context: 1_048_576, maxOutput: 1_048_576 },
      price: { input: 2, output: 10, cacheRead: 0.2 },
    },
    {
      ...{ id: 'kimi-k3', name: 'Kimi K3', family: 'kimi', images: true, released: '2026-07-16' },
      ...{ context: 1_048_576, maxOutput: 1_048_576 },
      price: { input: 3, output: 15, cacheRead: 0.3 },
    },
    {
      ...{ id: 'kimi-k2.6', name: 'Kimi K2.6', family: 'kimi', images: true, released: '2026-04-21' },
      ...{ context: 262_144, maxOutput: 262_144 },
      price: { input: 0.95, output: 4, cacheRead: 0.16 },
    },
  ],
  pricesOf: '2026-07-17',
  facts: [
    { of: 'URL, wires', how: 'reported', on: '2026-11-27', source: 'developersdigest.tech, of platform.kimi.ai' },
    { of: 'models, prices', how: 'reported', on: '2026-07-17', source: 'models.dev' },
    { of: 'K3.1 Pro', how: 'reported', on: '2026-11-28', source: 'vercel.com/ai-gateway and novita.ai' },
  ],
}
