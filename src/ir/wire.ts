// The names of the wires: what a client or a provider can speak; and what is asked on them.

export const CHAT_WIRES = ['chat-completions', 'responses', 'messages'] as const
export type ChatWire = (typeof CHAT_WIRES)[number]

/** Those that only pass: what is asked there has no other words. */
export const PASS_WIRES = ['images', 'embeddings', 'moderations', 'audio'] as const
type PassWire = (typeof PASS_WIRES)[number]

export type Wire = ChatWire | PassWire

const CHAT = new Set<Operation>(CHAT_WIRES)

export const isChatWire = (wire: Operation): wire is ChatWire => CHAT.has(wire)

/** What a request asks of a wire. The wire's own name stands for what is asked there first of all: for sound, a transcript. */
export type Operation =
  | Wire
  | 'responses/compact'
  | 'images/edits'
  | 'images/variations'
  | 'audio/speech'
  | 'audio/translations'

/** What a model does: which of the wires it is served on, and for what there. */
export const KINDS = ['text', 'image', 'embedding', 'moderation', 'speech', 'transcription'] as const
export type Kind = (typeof KINDS)[number]

export const KIND_OF: Readonly<Record<Operation, Kind>> = {
  'chat-completions': 'text',
  responses: 'text',
  'responses/compact': 'text',
  messages: 'text',
  images: 'image',
  'images/edits': 'image',
  'images/variations': 'image',
  embeddings: 'embedding',
  moderations: 'moderation',
  audio: 'transcription',
  'audio/speech': 'speech',
  'audio/translations': 'transcription',
}
