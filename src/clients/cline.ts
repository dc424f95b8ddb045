// Cline's command line: the compatible provider among its own. The editor's Cline keeps its settings elsewhere.

import type { Client } from './client.ts'
import { under } from './places.ts'

export const cline: Client = {
  name: 'cline',
  title: 'Cline',
  wire: 'chat-completions',
  tried: { version: '3.0.65', date: '2026-11-27' },
  files: [
    {
      shown: '~/.cline/data/settings/providers.json',
      path: under('.cline/data', 'settings/providers.json', 'CLINE_DATA_DIR'),
      format: 'json',
      secret: true,
      edits: ({ origin, key, main }) => [
        { at: ['version'], value: 1, absent: true },
        { at: ['lastUsedProvider'], value: 'openai-compatible' },
        {
          at: ['providers', 'openai-compatible'],
          value: {
            settings: { provider: 'openai-compatible', apiKey: key, model: main.id, baseUrl: `${origin}/v1` },
            updatedAt: '2026-11-27T00:00:00.000Z',
            tokenSource: 'manual',
          },
        },
      ],
    },
  ],
  start: () => 'cline',
  notes: ['In an editor, choose the provider "OpenAI Compatible" there and give it the same address, key and model.'],
}
