// droid: models of its user's own.

import type { Client } from './client.ts'
import { under } from './places.ts'

export const droid: Client = {
  name: 'droid',
  title: 'droid',
  wire: 'chat-completions',
  tried: { version: '0.215.0', date: '2026-11-27' },
  files: [
    {
      shown: '~/.factory/settings.json',
      path: under('.factory', 'settings.json'),
      format: 'json',
      secret: true,
      edits: ({ origin, key, models }) => [
        {
          at: ['customModels'],
          own: { member: 'displayName', name: 'sluice' },
          value: models.map(({ id, output, images }) => ({
            model: id,
            displayName: `sluice/${id}`,
            baseUrl: `${origin}/v1`,
            apiKey: key,
            provider: 'generic-chat-completion-api',
            maxOutputTokens: output,
            noImageSupport: !images,
          })),
        },
      ],
    },
  ],
  start: () => 'droid',
  notes: ['Choose the model by /model, under the custom ones.'],
}
