// LiteLLM proxy.

import { OWN_ON_ALL_WIRES } from '../own-server.ts'
import type { Preset } from '../preset.ts'

export const litellm: Preset = {
  ...OWN_ON_ALL_WIRES,
  name: 'litellm',
  title: 'LiteLLM proxy',
  baseUrl: 'http://127.0.0.1:4000/v1',
  facts: [
    { of: 'URL', how: 'documented', on: '2026-11-27', source: 'docs.litellm.ai' },
    { of: 'wires', how: 'driven', on: '2026-11-27', source: 'LiteLLM proxy 1.108.7' },
  ],
  note: 'With a master key it asks for a credential: set it in the account. Before servers of your own it passes on what is loose about their answers: quirks { loose_answers: true, stops_itself: false } mend it.',
}
