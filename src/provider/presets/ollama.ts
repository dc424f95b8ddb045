// Ollama.

import type { Preset } from '../preset.ts'

export const ollama: Preset = {
  name: 'ollama',
  title: 'Ollama',
  wires: ['chat-completions'],
  auth: 'bearer',
  baseUrl: 'http://127.0.0.1:11434/v1',
  env: { credential: [] },
  open: true,
  quirks: { noDeveloperRole: true, maxTokensField: 'max_tokens' },
  listsModels: true,
  models: [],
  facts: [
    { of: 'URL, wire', how: 'documented', on: '2026-11-27', source: 'docs of Ollama' },
    { of: 'quirks', how: 'unverified', on: '2026-11-27', source: '' },
  ],
}
