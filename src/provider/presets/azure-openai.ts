// Azure OpenAI by its v1 API, which asks for no api-version.

import type { Preset } from '../preset.ts'

import { openai } from './openai.ts'

export const azureOpenai: Preset = {
  name: 'azure-openai',
  title: 'Azure OpenAI',
  wires: ['responses', 'chat-completions', 'images', 'embeddings', 'audio'],
  auth: 'api-key',
  baseUrl: '{AZURE_OPENAI_ENDPOINT}/openai/v1',
  env: { credential: ['AZURE_OPENAI_API_KEY'] },
  brand: { vendor_b: 'gpt' },
  listsModels: true,
  priceMap: 'azure',
  models: openai.models.filter(({ gone }) => gone === undefined).map(({ price: _, ...model }) => model),
  facts: [
    { of: 'URL, headers', how: 'documented', on: '2026-11-27', source: 'learn.microsoft.com, api-version-lifecycle' },
    { of: 'models', how: 'unverified', on: '2026-11-27', source: '' },
    { of: 'prices', how: 'unverified', on: '2026-11-27', source: '' },
  ],
  note: 'A model is sent as the name of its deployment: where yours has another, set `upstream`. Older resources: base_url "https://NAME.openai.azure.com/openai/deployments/{model}?api-version=2024-10-21" and wires [chat-completions].',
}
