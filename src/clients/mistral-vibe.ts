// Mistral Vibe: a provider and models of its user's own, the key in its file of variables.

import type { Client } from './client.ts'
import { under } from './places.ts'

export const mistralVibe: Client = {
  name: 'mistral-vibe',
  title: 'Mistral Vibe',
  wire: 'chat-completions',
  tried: { version: '3.0.2', date: '2026-11-27' },
  files: [
    {
      shown: '~/.vibe/config.toml',
      path: under('.vibe', 'config.toml', 'VIBE_HOME'),
      format: 'toml',
      secret: false,
      edits: ({ origin, main, models }) => [
        { at: ['active_model'], value: `sluice/${main.id}` },
        {
          at: ['providers'],
          own: { member: 'name', name: 'sluice' },
          value: [
            {
              name: 'sluice',
              api_base: `${origin}/v1`,
              api_key_env_var: 'SLUICE_API_KEY',
              api_style: 'openai',
              backend: 'generic',
            },
          ],
        },
        {
          at: ['models'],
          own: { member: 'alias', name: 'sluice' },
          // It compacts at a part of the window, and shows pictures to models of which this is said alone.
          value: models.map(({ id, context, images }) => ({
            ...{ name: id, provider: 'sluice', alias: `sluice/${id}` },
            ...{ max_context_length: context, supports_images: images },
          })),
        },
      ],
    },
    {
      shown: '~/.vibe/.env',
      path: under('.vibe', '.env', 'VIBE_HOME'),
      format: 'env',
      secret: true,
      edits: ({ key }) => [{ at: ['SLUICE_API_KEY'], value: key }],
    },
  ],
  start: () => 'vibe',
}
