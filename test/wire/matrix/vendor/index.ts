// The vendors by the wire they speak.

import type { ChatWire } from '../../../../src/ir/wire.ts'
import type { Answer } from '../story.ts'
import * as chat from './chat-completions.ts'
import * as messages from './messages.ts'
import * as responses from './responses.ts'

export type VendorPen = {
  /** The whole answer as JSON text. */
  json(answer: Answer): string
  stream(answer: Answer): string
  /** The frame that breaks a stream off. */
  brokenOff(): string
}

export const VENDORS: Record<ChatWire, VendorPen> = { 'chat-completions': chat, responses, messages }
