// The names of the wires: what a client or a provider can speak.

export const CHAT_WIRES = ['chat-completions', 'responses', 'messages'] as const
export type ChatWire = (typeof CHAT_WIRES)[number]
export type Wire = ChatWire | 'images'
