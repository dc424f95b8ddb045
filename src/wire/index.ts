// The wires the gateway speaks, written out by hand.

import type { ChatWire, Wire } from '../ir/wire.ts'
import { chatCompletions } from './chat-completions/index.ts'
import type { ChatCodec, PassCodec } from './codec.ts'
import { images } from './images/index.ts'
import { messages } from './messages/index.ts'
import { responses } from './responses/index.ts'

export const CHAT_CODECS: Record<ChatWire, ChatCodec> = { 'chat-completions': chatCompletions, responses, messages }

export const CODECS: Record<Wire, PassCodec> = { ...CHAT_CODECS, images }

/** The codec of a wire that can be translated. Images never are: the route sends them to their own wire alone. */
export const chatCodec = (wire: Wire): ChatCodec => {
  if (wire === 'images') throw new Error('the images wire is never translated')
  return CHAT_CODECS[wire]
}
