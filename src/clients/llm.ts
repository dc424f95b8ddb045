// LLM: models beside its built-in ones, a whole file that is a list, and its file of keys.

import type { Client } from './client.ts'
import { underSystem } from './places.ts'

const FOLDER = 'io.datasette.llm'
const file = (name: string) =>
  underSystem(
    {
      linux: `${FOLDER}/${name}`,
      darwin: `Library/Application Support/${FOLDER}/${name}`,
      win32: `${FOLDER}\\${name}`,
    },
    { variable: 'LLM_USER_PATH', file: name },
  )

export const llm: Client = {
  name: 'llm',
  title: 'LLM',
  wire: 'chat-completions',
  tried: { version: '0.36', date: '2026-11-27' },
  files: [
    {
      shown: '~/.config/io.datasette.llm/extra-openai-models.yaml',
      path: file('extra-openai-models.yaml'),
      format: 'yaml-list',
      secret: false,
      edits: ({ origin, models }) => [
        {
          at: ['entries'],
          own: { member: 'model_id', name: 'sluice' },
          value: models.map(({ id, images }) => ({
            model_id: `sluice/${id}`,
            model_name: id,
            api_base: `${origin}/v1`,
            api_key_name: 'sluice',
            supports_tools: true,
            supports_schema: true,
            ...(images ? { vision: true } : {}),
          })),
        },
      ],
    },
    {
      shown: '~/.config/io.datasette.llm/keys.json',
      path: file('keys.json'),
      format: 'json',
      secret: true,
      edits: ({ key }) => [{ at: ['sluice'], value: key }],
    },
  ],
  start: ({ main }) => `llm -m sluice/${main.id}`,
}
