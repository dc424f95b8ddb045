// OpenRouter: models of many vendors behind one key.

import type { Preset } from '../preset.ts'

export const openrouter: Preset = {
  name: 'openrouter',
  title: 'OpenRouter',
  wires: ['chat-completions', 'messages'],
  auth: 'bearer',
  baseUrl: 'https://openrouter.ai/api/v1',
  env: { credential: ['OPENROUTER_API_KEY'] },
  credentialShape: '^sk-or-',
  versionHeader: { name: 'anthropic-version', value: '2023-06-01' },
  brand: { vendor_a: 'claude', vendor_b: 'gpt' },
  prefix: { vendor_a: 'anthropic/', vendor_b: 'openai/' },
  tellsCost: true,
  listsModels: true,
  priceMap: 'openrouter',
  models: [
    {
      ...{ id: 'claude-opus-4-8', upstream: 'anthropic/claude-opus-4.8', name: 'Claude Opus 4.8' },
      price: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
    },
    { id: 'claude-opus-4-7', upstream: 'anthropic/claude-opus-4.7', name: 'Claude Opus 4.7' },
    { id: 'claude-sonnet-5', upstream: 'anthropic/claude-sonnet-5', name: 'Claude Sonnet 5' },
    { id: 'claude-sonnet-4-6', upstream: 'anthropic/claude-sonnet-4.6', name: 'Claude Sonnet 4.6' },
    { id: 'claude-haiku-4-5', upstream: 'anthropic/claude-haiku-4.5', name: 'Claude Haiku 4.5' },
    { id: 'gpt-5.5', upstream: 'openai/gpt-5.5', name: 'GPT-5.5' },
    { id: 'gpt-5.4', upstream: 'openai/gpt-5.4', name: 'GPT-5.4' },
    { id: 'gpt-5.4-mini', upstream: 'openai/gpt-5.4-mini', name: 'GPT-5.4 mini' },
    { id: 'gpt-4o', upstream: 'openai/gpt-4o', name: 'GPT-4o' },
  ],
  pricesOf: '2026-11-27',
  facts: [
    { of: 'URL, headers', how: 'reported', on: '2026-11-27', source: 'docs.boundaryml.com and others' },
    { of: 'models', how: 'reported', on: '2026-11-27', source: 'models.dev' },
    { of: 'cost in its figures', how: 'reported', on: '2026-11-28', source: 'its guide to usage accounting' },
    { of: 'the messages wire', how: 'reported', on: '2026-11-27', source: 'settings of its users' },
    { of: 'prices but of Opus 4.8', how: 'unverified', on: '2026-11-27', source: '' },
  ],
  note: 'It has hundreds of models: `sluice models fetch` prints those of its list. What its answers say that they cost (`usage.cost`) counts for models that are given no price.',
}
