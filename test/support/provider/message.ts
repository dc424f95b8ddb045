// A whole message as a provider writes it, to which a test adds its content and its usage.

export const MESSAGE = {
  type: 'message',
  role: 'assistant',
  model: 'up',
  stop_reason: 'end_turn',
  stop_sequence: null,
}
