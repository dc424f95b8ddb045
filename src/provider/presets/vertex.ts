// Claude on Google's Vertex AI, which has the model in its paths and takes tokens of Google's.

import type { Preset } from '../preset.ts'

export const vertex: Preset = {
  name: 'vertex',
  title: 'Google Vertex AI, messages',
  wires: ['messages'],
  auth: 'google',
  baseUrl:
    'https://aiplatform.googleapis.com/v1/projects/{ANTHROPIC_VERTEX_PROJECT_ID}/locations/global/publishers/anthropic',
  env: { credential: [] },
  open: true,
  versionHeader: { name: 'anthropic-version', value: '2023-06-01' },
  brand: { vendor_a: 'claude' },
  listsModels: false,
  priceMap: 'vertex_ai',
  models: [
    { id: 'claude-opus-4-8', name: 'Claude Opus 4.8' },
    { id: 'claude-opus-4-7', name: 'Claude Opus 4.7' },
    { id: 'claude-sonnet-5', name: 'Claude Sonnet 5' },
    { id: 'claude-sonnet-4-6', name: 'Claude Sonnet 4.6' },
    { id: 'claude-haiku-4-5', upstream: 'claude-haiku-4-5@20251001', name: 'Claude Haiku 4.5' },
    {
      ...{ id: 'claude-haiku-5-5', name: 'Claude Haiku 5.5', family: 'haiku', images: true },
      ...{ context: 1_000_000, maxOutput: 128_000 },
    },
  ],
  facts: [
    { of: 'URL, body, token', how: 'documented', on: '2026-11-27', source: "the vendor's own vertex-sdk" },
    { of: 'ids of 4.7, 4.6, 4.5', how: 'documented', on: '2026-11-27', source: 'platform.claude.com, models overview' },
    { of: 'Haiku 5.5', how: 'documented', on: '2026-11-28', source: 'docs.cloud.google.com' },
    { of: 'ids of 4.8 and Sonnet 5, version', how: 'unverified', on: '2026-11-27', source: '' },
    { of: 'prices', how: 'unverified', on: '2026-11-27', source: '' },
  ],
  note: 'By the credentials that the machine has for Google (GOOGLE_APPLICATION_CREDENTIALS, those of gcloud, or its own); one identity for all accounts. A region instead of `global`: write its base_url. The list of betas in the header is sent as it is.',
}
