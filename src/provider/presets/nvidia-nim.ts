// NVIDIA NIM.

import type { Preset } from '../preset.ts'

export const nvidiaNim: Preset = {
  name: 'nvidia-nim',
  title: 'NVIDIA NIM',
  wires: ['chat-completions'],
  auth: 'bearer',
  baseUrl: 'https://integrate.api.nvidia.com/v1',
  env: { credential: ['NVIDIA_API_KEY'] },
  credentialShape: '^nvapi-',
  quirks: { noDeveloperRole: true, maxTokensField: 'max_tokens' },
  listsModels: true,
  priceMap: 'nvidia_nim',
  models: [
    {
      ...{
        id: 'nvidia/nemotron-3-super-120b-a12b',
        name: 'Nemotron 3 Super',
        family: 'nemotron',
        released: '2026-03-11',
      },
      ...{ context: 262_144 },
      price: { input: 0.2, output: 0.8 },
    },
  ],
  pricesOf: '2026-11-27',
  facts: [
    { of: 'URL, headers', how: 'documented', on: '2026-11-27', source: 'build.nvidia.com' },
    { of: 'models, prices', how: 'reported', on: '2026-11-27', source: 'models.dev' },
    { of: 'output limit', how: 'unverified', on: '2026-11-27', source: '' },
  ],
}
