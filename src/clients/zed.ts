// Zed: a compatible provider in its settings.

import type { Client } from './client.ts'
import { underSystem } from './places.ts'

export const zed: Client = {
  name: 'zed',
  title: 'Zed',
  wire: 'chat-completions',
  files: [
    {
      shown: '~/.config/zed/settings.json',
      path: underSystem({
        linux: 'zed/settings.json',
        darwin: '.config/zed/settings.json',
        win32: 'Zed\\settings.json',
      }),
      format: 'json',
      secret: false,
      edits: ({ origin, main, models }) => [
        {
          at: ['language_models', 'openai_compatible', 'sluice'],
          value: {
            api_url: `${origin}/v1`,
            available_models: models.map(({ id, context, output, images }) => ({
              name: id,
              display_name: id,
              max_tokens: context,
              max_output_tokens: output,
              capabilities: { tools: true, images, parallel_tool_calls: true, prompt_cache_key: false },
            })),
          },
        },
        { at: ['agent', 'default_model'], value: { provider: 'sluice', model: main.id } },
      ],
    },
  ],
  start: () => 'zed',
  notes: [
    'Zed keeps keys in the keychain of the system: give it this one in the settings of its agent, or set SLUICE_API_KEY where it is started.',
  ],
}
