// LM Studio.

import type { Preset } from '../preset.ts'

export const lmStudio: Preset = {
  name: 'lm-studio',
  title: 'LM Studio',
  wires: ['chat-completions', 'responses', 'messages'],
  auth: 'bearer',
  baseUrl: 'http://127.0.0.1:1234/v1',
  env: { credential: [] },
  open: true,
  versionHeader: { name: 'anthropic-version', value: '2023-06-01' },
  listsModels: true,
  models: [],
  facts: [
    { of: 'URL, wires', how: 'documented', on: '2026-11-27', source: 'lmstudio.ai/docs' },
    { of: 'quirks', how: 'unverified', on: '2026-11-27', source: '' },
    { of: 'unknown paths answered with 200', how: 'reported', on: '2026-11-28', source: 'lmstudio-bug-tracker#2085' },
  ],
}
