// llama.cpp server.

import { OWN_ON_ALL_WIRES } from '../own-server.ts'
import type { Preset } from '../preset.ts'

export const llamaCpp: Preset = {
  ...OWN_ON_ALL_WIRES,
  name: 'llama.cpp',
  title: 'llama.cpp server',
  baseUrl: 'http://127.0.0.1:8080/v1',
  // Frames of its responses wire lack their places, which the vendor's SDK goes by, and cut answers are called complete.
  quirks: { looseAnswers: true },
  facts: [
    { of: 'URL', how: 'documented', on: '2026-11-27', source: 'its README' },
    { of: 'wires, quirks', how: 'driven', on: '2026-11-27', source: 'llama-server b10434' },
  ],
  note: 'It takes any model id: what it was started with answers.',
}
