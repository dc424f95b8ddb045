// Another instance of this gateway.

import type { Preset } from '../preset.ts'

export const sluice: Preset = {
  name: 'sluice',
  title: 'Another sluice',
  wires: ['messages', 'responses', 'chat-completions', 'images', 'embeddings', 'moderations', 'audio'],
  auth: 'bearer',
  baseUrl: 'http://127.0.0.1:8080/v1',
  env: { credential: [] },
  credentialShape: '^sk-sl-',
  versionHeader: { name: 'vendorA-version', value: '2023-06-01' },
  neutral: true,
  quirks: { readsTags: true },
  listsModels: true,
  models: [],
  facts: [{ of: 'all', how: 'driven', on: '2026-11-27', source: 'its own tests' }],
  note: 'Set up as vendor_a or vendor_b it is asked for the neutral ids, which it knows.',
}
