// goose: a provider in a file of its own, chosen in its settings.

import type { Client } from './client.ts'
import { underSystem } from './places.ts'

const file = (name: string) =>
  underSystem({
    linux: `goose/${name}`,
    darwin: `.config/goose/${name}`,
    win32: `Block\\goose\\config\\${name.replace('/', '\\')}`,
  })

export const goose: Client = {
  name: 'goose',
  title: 'goose',
  wire: 'chat-completions',
  files: [
    {
      shown: '~/.config/goose/custom_providers/sluice.json',
      path: file('custom_providers/sluice.json'),
      format: 'json',
      secret: false,
      edits: ({ origin, models }) => [
        { at: ['name'], value: 'sluice' },
        { at: ['engine'], value: 'openai' },
        { at: ['display_name'], value: 'sluice' },
        { at: ['description'], value: 'An LLM gateway' },
        { at: ['api_key_env'], value: 'SLUICE_API_KEY' },
        { at: ['base_url'], value: `${origin}/v1/chat/completions` },
        { at: ['models'], value: models.map(({ id, context }) => ({ name: id, context_limit: context })) },
        { at: ['supports_streaming'], value: true },
      ],
    },
    {
      shown: '~/.config/goose/config.yaml',
      path: file('config.yaml'),
      format: 'yaml',
      secret: false,
      edits: ({ main }) => [
        { at: ['GOOSE_PROVIDER'], value: 'sluice' },
        { at: ['GOOSE_MODEL'], value: main.id },
      ],
    },
  ],
  start: () => 'goose session',
  notes: [
    'goose keeps keys in the keychain of the system: give it this one by "goose configure", or set SLUICE_API_KEY where it is started.',
  ],
}
