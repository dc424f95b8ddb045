// llama.cpp server.

import type { Preset } from '../preset.ts'

export const llamaCpp: Preset = {
  name: 'llama.cpp',
  title: 'llama.cpp server',
  wires: ['chat-completions', 'responses', 'messages'],
  auth: 'bearer',
  baseUrl: 'http://127.0.0.1:8080/v1',
  env: { credential: [] },
  open: true,
  versionHeader: { name: 'anthropic-version', value: '2023-06-01' },
  // Frames of its responses wire lack their places, which the vendor's SDK goes by, and cut answers are called complete.
  quirks: { looseAnswers: true },
  listsModels: true,
  models: [],
  facts: [
    { of: 'URL', how: 'documented', on: '2026-11-27', source: 'its README' },
    { of: 'wires, quirks', how: 'driven', on: '2026-11-27', source: 'llama-server b10434' },
  ],
  note: 'It takes any model id: what it was started with answers.',
}
