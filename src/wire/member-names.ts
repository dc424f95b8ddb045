// Members that the wires have under different names: refusals and `x-gateway-dropped` give the client's own.

import type { ChatWire } from '../ir/wire.ts'

const ROWS = (
  [
    ['messages', 'input', 'messages'],
    ['max_completion_tokens', 'max_output_tokens', 'max_tokens'],
    ['max_tokens', 'max_output_tokens', 'max_tokens'],
    ['stop', 'stop', 'stop_sequences'],
    ['reasoning_effort', 'reasoning', 'thinking'],
    ['reasoning_effort', 'reasoning.effort', 'output_config.effort'],
    ['reasoning.summary', 'reasoning.summary', 'thinking.display'],
    ['response_format', 'text.format', 'output_config.format'],
    ['response_format', 'text', 'output_config.format'],
    ['verbosity', 'text.verbosity', 'verbosity'],
    ['logprobs', 'include', 'logprobs'],
    ['user', 'user', 'metadata.user_id'],
    ['parallel_tool_calls', 'parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
  ] as const
).map(([chat, responses, messages]) => ({ 'chat-completions': chat, responses, messages }))

/** The name that clients of `origin` have for a member of `wire`. */
export const memberName = (origin: ChatWire, wire: ChatWire, member: string): string =>
  ROWS.find((row) => row[wire] === member)?.[origin] ?? member
