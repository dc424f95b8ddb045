// LM Studio.

import { OWN_ON_ALL_WIRES } from '../own-server.ts'
import type { Preset } from '../preset.ts'

export const lmStudio: Preset = {
  ...OWN_ON_ALL_WIRES,
  name: 'lm-studio',
  title: 'LM Studio',
  baseUrl: 'http://127.0.0.1:1234/v1',
  facts: [
    { of: 'URL, wires', how: 'documented', on: '2026-11-27', source: 'lmstudio.ai/docs' },
    { of: 'quirks', how: 'unverified', on: '2026-11-27', source: '' },
    { of: 'unknown paths answered with 200', how: 'reported', on: '2026-11-28', source: 'lmstudio-bug-tracker#2085' },
  ],
}
