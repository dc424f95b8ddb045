// The server of Hugging Face's transformers.

import { OWN_SERVER } from '../own-server.ts'
import type { Preset } from '../preset.ts'

export const transformers: Preset = {
  ...OWN_SERVER,
  name: 'transformers',
  title: 'transformers serve',
  wires: ['chat-completions', 'responses'],
  baseUrl: 'http://127.0.0.1:8000/v1',
  quirks: { stopsItself: false, looseAnswers: true },
  facts: [
    { of: 'URL', how: 'documented', on: '2026-11-27', source: 'its own help' },
    { of: 'wires, quirks', how: 'driven', on: '2026-11-27', source: 'transformers 5.24.0' },
  ],
  note: 'It reads no pictures unless its model does, and says nothing of it. A forced call of a tool is left to the model.',
}
