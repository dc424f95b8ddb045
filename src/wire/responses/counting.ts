// The responses wire's request to count a prompt: POST /v1/responses/input_tokens.

import { count } from '../../ir/usage.ts'
import type { Counting } from '../codec.ts'
import { ResponsesRequest } from './schema.ts'

export const counting: Counting = {
  requestSchema: ResponsesRequest,
  toRequest: (body) => body,
  members: [
    'model',
    'input',
    'instructions',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'reasoning',
    'text',
    'truncation',
    'previous_response_id',
    'conversation',
  ],
  read: (body) => count(body.input_tokens),
  write: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
}
