// Claude Code: variables in its own settings.

import type { Client } from './client.ts'
import { under } from './places.ts'

export const claudeCode: Client = {
  name: 'claude-code',
  title: 'Claude Code',
  wire: 'messages',
  tried: { version: '2.1.332', date: '2026-11-27' },
  files: [
    {
      shown: '~/.claude/settings.json',
      path: under('.claude', 'settings.json', 'CLAUDE_CONFIG_DIR'),
      format: 'json',
      secret: true,
      edits: ({ origin, key, main, small }) => [
        { at: ['env', 'ANTHROPIC_BASE_URL'], value: origin },
        { at: ['env', 'ANTHROPIC_AUTH_TOKEN'], value: key },
        { at: ['env', 'ANTHROPIC_MODEL'], value: main.id },
        { at: ['env', 'ANTHROPIC_DEFAULT_HAIKU_MODEL'], value: small.id },
        // Of a model it does not know it assumes a million tokens.
        {
          at: ['env', 'CLAUDE_CODE_MAX_CONTEXT_TOKENS'],
          value: main.context < 1_000_000 ? `${main.context}` : undefined,
        },
      ],
    },
  ],
  small: true,
  start: () => 'claude',
}
