// Codex: a provider of its own in the one file of settings.

import type { Client } from './client.ts'
import { under } from './places.ts'

export const codex: Client = {
  name: 'codex',
  title: 'Codex',
  wire: 'responses',
  tried: { version: '0.171.0', date: '2026-11-27' },
  files: [
    {
      shown: '~/.codex/config.toml',
      path: under('.codex', 'config.toml', 'CODEX_HOME'),
      format: 'toml',
      secret: true,
      edits: ({ origin, key, main }) => [
        { at: ['model'], value: main.id },
        { at: ['model_provider'], value: 'sluice' },
        { at: ['model_context_window'], value: main.context },
        { at: ['model_auto_compact_token_limit'], value: Math.floor(main.context * 0.8) },
        {
          at: ['model_providers', 'sluice'],
          value: {
            name: 'sluice',
            base_url: `${origin}/v1`,
            wire_api: 'responses',
            experimental_bearer_token: key,
            // Comments, by which a stream is kept alive, do not count for it: as long as the gateway waits for a vendor.
            stream_idle_timeout_ms: 600_000,
          },
        },
      ],
    },
  ],
  start: () => 'codex',
}
