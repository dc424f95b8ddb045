// Claude on Amazon Bedrock by its messages API, which streams as the vendor's own does.

import type { Preset } from '../preset.ts'

export const bedrock: Preset = {
  name: 'bedrock',
  title: 'Amazon Bedrock, messages',
  wires: ['messages'],
  auth: 'bearer',
  baseUrl: 'https://bedrock-mantle.{AWS_REGION}.api.aws/anthropic',
  env: { credential: ['AWS_BEARER_TOKEN_BEDROCK'] },
  signs: true,
  versionHeader: { name: 'anthropic-version', value: '2023-06-01' },
  brand: { vendor_a: 'claude' },
  prefix: { vendor_a: 'anthropic.' },
  listsModels: false,
  priceMap: 'bedrock',
  models: [
    { id: 'claude-opus-4-8', upstream: 'anthropic.claude-opus-4-8', name: 'Claude Opus 4.8' },
    { id: 'claude-opus-4-7', upstream: 'anthropic.claude-opus-4-7', name: 'Claude Opus 4.7' },
    { id: 'claude-sonnet-5', upstream: 'anthropic.claude-sonnet-5', name: 'Claude Sonnet 5' },
    { id: 'claude-haiku-4-5', upstream: 'anthropic.claude-haiku-4-5', name: 'Claude Haiku 4.5' },
    {
      ...{ id: 'claude-haiku-5-5', upstream: 'anthropic.claude-haiku-5-5', name: 'Claude Haiku 5.5' },
      ...{ family: 'haiku', images: true, context: 1_000_000, maxOutput: 128_000 },
    },
  ],
  facts: [
    { of: 'URL, headers, signature', how: 'documented', on: '2026-11-27', source: "the vendor's own bedrock-sdk" },
    { of: 'models', how: 'documented', on: '2026-11-27', source: 'platform.claude.com, claude-in-amazon-bedrock' },
    { of: 'limits of Haiku 5.5', how: 'documented', on: '2026-11-28', source: 'docs.aws.amazon.com, its model card' },
    { of: 'id of Haiku 5.5', how: 'reported', on: '2026-11-28', source: 'apidog.com' },
    { of: 'id of Haiku 4.5', how: 'unverified', on: '2026-11-27', source: '' },
    { of: 'prices', how: 'unverified', on: '2026-11-27', source: '' },
  ],
  note: 'By a Bedrock API key, else signed by AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN (of an account that is listed, with `auth: aws-sigv4`), read at the start: a session that is renewed by the hour is not followed. The older InvokeModel API is not spoken.',
}
