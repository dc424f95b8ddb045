// The clients by the wire they speak.

import type { JsonObject } from '../../../../src/ir/json.ts'
import type { ChatWire } from '../../../../src/ir/wire.ts'
import type { Ask, ClientView } from '../story.ts'
import * as chat from './chat-completions.ts'
import * as messages from './messages.ts'
import * as responses from './responses.ts'

export type Client = {
  request(ask: Ask, model: string, stream: boolean): JsonObject
  /** The answer as the official SDK gathers it from the bytes. */
  gather(text: string, stream: boolean): Promise<JsonObject>
  /** The answer as the client reads it, without ids and times. */
  viewOf(body: JsonObject): ClientView
  /** The total of tokens in the answer's usage. */
  total(body: JsonObject): number
}

export const CLIENTS: Record<ChatWire, Client> = { 'chat-completions': chat, responses, messages }
