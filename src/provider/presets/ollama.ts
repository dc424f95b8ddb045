// Ollama.

import { OWN_SERVER } from '../own-server.ts'
import type { Preset } from '../preset.ts'

export const ollama: Preset = {
  ...OWN_SERVER,
  name: 'ollama',
  title: 'Ollama',
  wires: ['chat-completions'],
  baseUrl: 'http://127.0.0.1:11434/v1',
  // Its streams give several calls one place, and some of them no id or type.
  quirks: { noDeveloperRole: true, maxTokensField: 'max_tokens', looseAnswers: true },
  facts: [
    { of: 'URL, wire', how: 'documented', on: '2026-11-27', source: 'docs of Ollama' },
    { of: 'output cap', how: 'driven', on: '2026-11-28', source: 'its wires of 0.17.4' },
    { of: 'roles', how: 'unverified', on: '2026-11-27', source: '' },
    { of: 'loose answers', how: 'reported', on: '2026-11-28', source: 'ollama#15457, ollama#7881, continue#13225' },
  ],
}
