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
  // Its streams give several calls one place, and some of them no id or type.
  quirks: { noDeveloperRole: true, maxTokensField: 'max_tokens', looseAnswers: true },
  listsModels: true,
  models: [],
  facts: [
    { of: 'URL, wire', how: 'documented', on: '2026-11-27', source: 'docs of Ollama' },
    { of: 'roles, output cap', how: 'unverified', on: '2026-11-27', source: '' },
    { of: 'loose answers', how: 'reported', on: '2026-11-28', source: 'ollama#15457, ollama#7881, continue#13225' },
  ],
}
