// GitHub Copilot's command line: it reads a provider from variables alone, so that these are put into a file to be sourced.

import type { Client } from './client.ts'
import { under } from './places.ts'

export const copilotCli: Client = {
  name: 'copilot-cli',
  title: 'GitHub Copilot CLI',
  wire: 'chat-completions',
  tried: { version: '1.0.102', date: '2026-11-27' },
  files: [
    {
      shown: '~/.copilot/sluice.env',
      path: under('.copilot', 'sluice.env', 'COPILOT_HOME'),
      format: 'env',
      secret: true,
      edits: ({ origin, key, main }) => [
        { at: ['COPILOT_PROVIDER_BASE_URL'], value: `${origin}/v1` },
        { at: ['COPILOT_PROVIDER_API_KEY'], value: key },
        { at: ['COPILOT_MODEL'], value: main.id },
        { at: ['COPILOT_PROVIDER_MAX_PROMPT_TOKENS'], value: `${main.context - main.output}` },
        { at: ['COPILOT_PROVIDER_MAX_OUTPUT_TOKENS'], value: `${main.output}` },
      ],
    },
  ],
  start: () => '(set -a; . ~/.copilot/sluice.env; copilot)',
  notes: ['It reads a provider from the environment only: without the file it goes to GitHub.'],
}
