// The server of Apple's mlx-lm.

import { OWN_SERVER } from '../own-server.ts'
import type { Preset } from '../preset.ts'

export const mlxLm: Preset = {
  ...OWN_SERVER,
  name: 'mlx-lm',
  title: 'mlx_lm.server',
  wires: ['chat-completions'],
  baseUrl: 'http://127.0.0.1:8080/v1',
  quirks: { stopsItself: false, maxTokensField: 'max_tokens' },
  facts: [
    { of: 'URL', how: 'documented', on: '2026-11-27', source: 'its own help' },
    { of: 'wires, quirks', how: 'driven', on: '2026-11-27', source: 'mlx-lm 0.32.2' },
  ],
  note: 'It knows no limit of the context: set `context` of the model. `n` and a forced call of a tool are left out of account.',
}
