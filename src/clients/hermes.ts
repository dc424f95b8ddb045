// Hermes Agent: its one model, at an address of its user's own.

import type { Client } from './client.ts'
import { under } from './places.ts'

export const hermes: Client = {
  name: 'hermes',
  title: 'Hermes Agent',
  wire: 'chat-completions',
  tried: { version: '0.19.0', date: '2026-11-27' },
  files: [
    {
      shown: '~/.hermes/config.yaml',
      path: under('.hermes', 'config.yaml', 'HERMES_HOME'),
      format: 'yaml',
      secret: true,
      edits: ({ origin, key, main }) => [
        // Its own first file has the name alone there.
        { at: ['model', 'default'], value: main.id, short: true },
        { at: ['model', 'provider'], value: 'custom' },
        { at: ['model', 'base_url'], value: `${origin}/v1` },
        { at: ['model', 'api_key'], value: key },
      ],
    },
  ],
  start: () => 'hermes',
}
