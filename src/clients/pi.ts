// pi: a provider among its models.

import type { Client } from './client.ts'
import { under } from './places.ts'

/** Levels that it asks of no model unless it is told what they are called. */
const HIGHEST = { xhigh: 'xhigh', max: 'max' }

export const pi: Client = {
  name: 'pi',
  title: 'pi',
  wire: 'responses',
  tried: { version: '1.6.0', date: '2026-11-27' },
  files: [
    {
      shown: '~/.pi/agent/models.json',
      path: under('.pi/agent', 'models.json', 'PI_CODING_AGENT_DIR'),
      format: 'json',
      secret: true,
      edits: ({ origin, key, models }) => [
        {
          at: ['providers', 'sluice'],
          value: {
            baseUrl: `${origin}/v1`,
            api: 'openai-responses',
            apiKey: key,
            models: models.map(({ id, context, output, images, reasons }) => ({
              id,
              ...(reasons ? { reasoning: true, thinkingLevelMap: HIGHEST } : {}),
              input: images ? ['text', 'image'] : ['text'],
              contextWindow: context,
              maxTokens: output,
            })),
          },
        },
      ],
    },
    {
      shown: '~/.pi/agent/settings.json',
      path: under('.pi/agent', 'settings.json', 'PI_CODING_AGENT_DIR'),
      format: 'json',
      secret: false,
      edits: ({ main }) => [
        { at: ['defaultProvider'], value: 'sluice' },
        { at: ['defaultModel'], value: main.id },
      ],
    },
  ],
  start: () => 'pi',
}
