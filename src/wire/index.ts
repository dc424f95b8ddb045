// The wires the gateway speaks, written out by hand.

import { type ChatWire, isChatWire, type Operation } from '../ir/wire.ts'
import { speech, transcriptions, translations } from './audio/index.ts'
import { chatCompletions } from './chat-completions/index.ts'
import type { ChatCodec, PassCodec } from './codec.ts'
import { embeddings } from './embeddings/index.ts'
import { imageEdits, images, imageVariations } from './images/index.ts'
import { messages } from './messages/index.ts'
import { moderations } from './moderations/index.ts'
import { compact } from './responses/compact.ts'
import { responses } from './responses/index.ts'

export const CHAT_CODECS: Record<ChatWire, ChatCodec> = { 'chat-completions': chatCompletions, responses, messages }

export const CODECS: Record<Operation, PassCodec> = {
  ...CHAT_CODECS,
  'responses/compact': compact,
  images,
  'images/edits': imageEdits,
  'images/variations': imageVariations,
  embeddings,
  moderations,
  audio: transcriptions,
  'audio/speech': speech,
  'audio/translations': translations,
}

/** The codec of what can be translated. The rest never is: the route sends what is theirs to their own alone. */
export const chatCodec = (asked: Operation): ChatCodec => {
  if (asked === 'responses/compact') return compact
  if (!isChatWire(asked)) throw new Error(`what is asked of ${asked} is never translated`)
  return CHAT_CODECS[asked]
}
