// vLLM.

import { OWN_ON_ALL_WIRES } from '../own-server.ts'
import type { Preset } from '../preset.ts'

export const vllm: Preset = {
  ...OWN_ON_ALL_WIRES,
  name: 'vllm',
  title: 'vLLM',
  baseUrl: 'http://127.0.0.1:8000/v1',
  facts: [
    { of: 'URL', how: 'documented', on: '2026-11-27', source: 'docs.vllm.ai' },
    { of: 'wires, quirks', how: 'driven', on: '2026-11-27', source: 'vLLM 0.32.0' },
  ],
}
