// The names of this wire's members on other wires, for refusals and `x-gateway-dropped`.

import type { ChatWire } from '../../ir/wire.ts'

const NAMES: Record<ChatWire, { [member: string]: string }> = {
  responses: {},
  'chat-completions': {
    input: 'messages',
    reasoning: 'reasoning_effort',
    text: 'response_format',
    'text.format': 'response_format',
    'text.verbosity': 'verbosity',
    max_output_tokens: 'max_completion_tokens',
  },
  messages: {
    input: 'messages',
    stop: 'stop_sequences',
    user: 'metadata.user_id',
    reasoning: 'thinking',
    'reasoning.summary': 'thinking.display',
    effort: 'output_config.effort',
    text: 'output_config.format',
    'text.format': 'output_config.format',
    'text.verbosity': 'verbosity',
    max_output_tokens: 'max_tokens',
    parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
  },
}

export const memberName = (origin: ChatWire, member: string): string => NAMES[origin][member] ?? member
