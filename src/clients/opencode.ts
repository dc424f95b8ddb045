// opencode: a provider of its own with the gateway's models.

import type { Client, Listed } from './client.ts'
import { underConfig } from './places.ts'

export const opencode: Client = {
  name: 'opencode',
  title: 'opencode',
  wire: 'chat-completions',
  tried: { version: '1.18.33', date: '2026-11-27' },
  files: [
    {
      shown: '~/.config/opencode/opencode.json',
      path: underConfig('opencode/opencode.json'),
      format: 'json',
      secret: true,
      edits: ({ origin, key, main, small, models }) => [
        { at: ['model'], value: `sluice/${main.id}` },
        { at: ['small_model'], value: `sluice/${small.id}` },
        {
          at: ['provider', 'sluice'],
          value: {
            npm: '@ai-sdk/openai-compatible',
            name: 'sluice',
            options: { baseURL: `${origin}/v1`, apiKey: key },
            models: Object.fromEntries(models.map((model) => [model.id, limitsOf(model)])),
          },
        },
      ],
    },
  ],
  small: true,
  start: () => 'opencode',
}

const limitsOf = ({ context, output, images, reasons }: Listed) => ({
  limit: { context, output },
  ...(reasons ? { reasoning: true } : {}),
  ...(images ? { attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } } : {}),
})
