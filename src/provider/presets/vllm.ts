// vLLM.

import type { Preset } from '../preset.ts'

export const vllm: Preset = {
  name: 'vllm',
  title: 'vLLM',
  wires: ['chat-completions', 'responses', 'messages'],
  auth: 'bearer',
  baseUrl: 'http://127.0.0.1:8000/v1',
  env: { credential: [] },
  open: true,
  versionHeader: { name: 'anthropic-version', value: '2023-06-01' },
  listsModels: true,
  models: [],
  facts: [
    { of: 'URL', how: 'documented', on: '2026-11-27', source: 'docs.vllm.ai' },
    { of: 'wires, quirks', how: 'driven', on: '2026-11-27', source: 'vLLM 0.32.0' },
  ],
}
