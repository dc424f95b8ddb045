// Qwen Code: variables and the way of signing in, in its own settings.

import type { Client } from './client.ts'
import { under } from './places.ts'

export const qwenCode: Client = {
  name: 'qwen-code',
  title: 'Qwen Code',
  wire: 'chat-completions',
  tried: { version: '0.24.4', date: '2026-11-27' },
  files: [
    {
      shown: '~/.qwen/settings.json',
      path: under('.qwen', 'settings.json', 'QWEN_HOME'),
      format: 'json',
      secret: true,
      edits: ({ origin, key, main }) => [
        { at: ['security', 'auth', 'selectedType'], value: 'openai' },
        { at: ['security', 'auth', 'baseUrl'], value: `${origin}/v1` },
        { at: ['security', 'auth', 'apiKey'], value: key },
        { at: ['model', 'name'], value: main.id },
        { at: ['model', 'generationConfig', 'contextWindowSize'], value: main.context },
        { at: ['model', 'generationConfig', 'modalities'], value: main.images ? { image: true } : {} },
      ],
    },
  ],
  start: () => 'qwen',
}
