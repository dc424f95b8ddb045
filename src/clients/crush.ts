// Crush: a provider of its own with the gateway's models.

import type { Client } from './client.ts'
import { underConfig } from './places.ts'

export const crush: Client = {
  name: 'crush',
  title: 'Crush',
  wire: 'chat-completions',
  files: [
    {
      shown: '~/.config/crush/crush.json',
      path: underConfig('crush/crush.json'),
      format: 'json',
      secret: true,
      edits: ({ origin, key, main, small, models }) => [
        {
          at: ['providers', 'sluice'],
          value: {
            name: 'sluice',
            type: 'openai-compat',
            base_url: `${origin}/v1`,
            api_key: key,
            models: models.map(({ id, context, output, images }) => ({
              id,
              name: id,
              context_window: context,
              default_max_tokens: output,
              supports_attachments: images,
            })),
          },
        },
        { at: ['models', 'large'], value: { provider: 'sluice', model: main.id } },
        { at: ['models', 'small'], value: { provider: 'sluice', model: small.id } },
      ],
    },
  ],
  small: true,
  start: () => 'crush',
  notes: ['What a crushrc beside this file says, or one of a project, goes before it.'],
}
