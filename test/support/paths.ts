// Where the client API serves each wire.

import type { Wire } from '../../src/ir/wire.ts'

export const PATHS: Record<Wire, string> = {
  'chat-completions': '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  images: '/v1/images/generations',
  embeddings: '/v1/embeddings',
  moderations: '/v1/moderations',
  audio: '/v1/audio/transcriptions',
}
