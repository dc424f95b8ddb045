// Counting a prompt's tokens on the messages wire: POST /v1/messages/count_tokens.

import { count } from '../../ir/usage.ts'
import type { Counting } from '../codec.ts'
import { CountRequest } from './schema.ts'

export const counting: Counting = {
  requestSchema: CountRequest,
  toRequest: (body, maxOutput) => ({ ...body, max_tokens: maxOutput }),
  members: [
    'model',
    'messages',
    'system',
    'tools',
    'tool_choice',
    'thinking',
    'output_config',
    'cache_control',
    'speed',
  ],
  read: (body) => count(body.input_tokens),
  write: (tokens) => ({ input_tokens: tokens }),
}
