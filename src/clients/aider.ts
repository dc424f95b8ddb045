// aider: its file of options, and the limits of models that it does not know.

import type { Client } from './client.ts'
import { under } from './places.ts'

export const aider: Client = {
  name: 'aider',
  title: 'aider',
  wire: 'chat-completions',
  tried: { version: '0.86.2', date: '2026-11-27' },
  files: [
    {
      shown: '~/.aider.conf.yml',
      path: under('', '.aider.conf.yml'),
      format: 'yaml',
      secret: true,
      edits: ({ origin, key, main, small }) => [
        { at: ['model'], value: `openai/${main.id}` },
        { at: ['weak-model'], value: `openai/${small.id}` },
        { at: ['openai-api-base'], value: `${origin}/v1` },
        { at: ['openai-api-key'], value: key },
      ],
    },
    {
      shown: '~/.aider.model.metadata.json',
      path: under('', '.aider.model.metadata.json'),
      format: 'json',
      secret: false,
      edits: ({ models }) =>
        models.map(({ id, context, output }) => ({
          at: [`openai/${id}`],
          value: { max_input_tokens: context, max_output_tokens: output, litellm_provider: 'openai', mode: 'chat' },
        })),
    },
  ],
  small: true,
  start: () => 'aider',
}
