// Continue: models in the file that its editors and its command line share.

import type { Client } from './client.ts'
import { under } from './places.ts'

export const continueDev: Client = {
  name: 'continue',
  title: 'Continue',
  wire: 'chat-completions',
  tried: { version: '1.5.47', date: '2026-11-27' },
  files: [
    {
      shown: '~/.continue/config.yaml',
      path: under('.continue', 'config.yaml', 'CONTINUE_GLOBAL_DIR'),
      format: 'yaml',
      secret: true,
      edits: ({ origin, key, main, models }) => [
        { at: ['name'], value: 'sluice', absent: true },
        { at: ['version'], value: '1.0.0', absent: true },
        { at: ['schema'], value: 'v1', absent: true },
        {
          at: ['models'],
          own: { member: 'name', name: 'sluice' },
          value: [main, ...models.filter((model) => model !== main)].map(({ id, context, output, images }) => ({
            name: `sluice/${id}`,
            provider: 'openai',
            model: id,
            apiBase: `${origin}/v1`,
            apiKey: key,
            capabilities: ['tool_use', ...(images ? ['image_input'] : [])],
            defaultCompletionOptions: { contextLength: context, maxTokens: output },
          })),
        },
      ],
    },
  ],
  start: () => 'cn',
  notes: ['Where other models stand before these, choose one by /model, or in the editor.'],
}
