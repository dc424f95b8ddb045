// Google Gemini.

import type { Preset } from '../preset.ts'

export const gemini: Preset = {
  name: 'gemini',
  title: 'Google Gemini',
  wires: ['chat-completions'],
  auth: 'bearer',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
  env: { credential: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'] },
  credentialShape: '^AIza[\\w-]{35}$',
  quirks: { noDeveloperRole: true, needsSignatures: true, looseCalls: true },
  listsModels: true,
  priceMap: 'gemini',
  models: [
    {
      ...{ id: 'gemini-4-neon', name: 'Gemini 4 Neon', family: 'gemini', images: true, released: '2026-11-18' },
      ...{ context: 1_048_576, maxOutput: 65_536 },
      price: { input: 3, output: 15, cacheRead: 0.15 },
    },
    {
      ...{ id: 'gemini-4-hydrogen', name: 'Gemini 4 Hydrogen', family: 'gemini', images: true },
      ...{ context: 1_048_576 },
      price: { input: 1.5, output: 7.5, cacheRead: 0.075 },
    },
    {
      ...{ id: 'gemini-3.8-flash', name: 'Gemini 3.8 Flash', family: 'gemini', images: true, released: '2026-09-02' },
      ...{ context: 1_048_576, maxOutput: 65_536 },
      price: { input: 0.75, output: 3.75, cacheRead: 0.075 },
    },
    {
      ...{
        id: 'gemini-3.1-pro-preview',
        name: 'Gemini 3.1 Pro Preview',
        family: 'gemini',
        images: true,
        released: '2026-02-19',
      },
      ...{ context: 1_048_576, maxOutput: 65_536 },
      price: { input: 2, output: 12, cacheRead: 0.2, long: { above: 200_000, input: 4, output: 18, cacheRead: 0.4 } },
    },
  ],
  pricesOf: '2026-11-27',
  facts: [
    { of: 'URL', how: 'reported', on: '2026-11-27', source: 'pub.dev and others' },
    { of: 'streams with calls', how: 'reported', on: '2026-11-28', source: 'python-genai#2868, kern-ai#336' },
    { of: 'models, prices', how: 'reported', on: '2026-11-27', source: 'models.dev, of ai.google.dev' },
    {
      of: 'Gemini 4',
      how: 'reported',
      on: '2026-11-28',
      source: 'apidog.com, LiteLLM and TokenMeter, of the pricing page',
    },
    { of: 'Gemini 4 by the OpenAI-style endpoint', how: 'unverified', on: '2026-11-28', source: '' },
  ],
  note: 'By its OpenAI-style endpoint. The price of 3.8 Flash holds until 2026-12-31.',
}
