// LiteLLM proxy.

import type { Preset } from '../preset.ts'

export const litellm: Preset = {
  name: 'litellm',
  title: 'LiteLLM proxy',
  wires: ['chat-completions', 'responses', 'messages'],
  auth: 'bearer',
  baseUrl: 'http://127.0.0.1:4000/v1',
  env: { credential: [] },
  open: true,
  versionHeader: { name: 'anthropic-version', value: '2023-06-01' },
  listsModels: true,
  models: [],
  facts: [
    { of: 'URL', how: 'documented', on: '2026-11-27', source: 'docs.litellm.ai' },
    { of: 'wires', how: 'driven', on: '2026-11-27', source: 'LiteLLM proxy 1.108.7' },
  ],
  note: 'With a master key it asks for a credential: set it in the account. Before servers of your own it passes on what is loose about their answers: quirks { loose_answers: true, stops_itself: false } mend it.',
}
