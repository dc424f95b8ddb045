// The chat-completions wire: its codec, for the clients and for the providers that speak it.

import type { ChatCodec } from '../codec.ts'
import { faultOf } from '../pass.ts'
import { decodeEvents } from './decode-events.ts'
import { encodeEvents } from './encode-events.ts'
import { decodeError, encodeError, failureIn } from './error.ts'
import { outputCap, passEdits } from './pass.ts'
import { decodeRequest, encodeRequest } from './request.ts'
import { decodeResponse, encodeResponse, readUsage } from './response.ts'
import { ChatCompletionsRequest } from './schema.ts'
import { tap } from './tap.ts'

export const chatCompletions: ChatCodec = {
  wire: 'chat-completions',
  requestSchema: ChatCompletionsRequest,
  passEdits,
  outputCap,
  tap,
  counting: undefined,
  faultIn: (body) => faultOf(body, 'choices', decodeError) ?? failureIn(body),
  readUsage,
  decodeError,
  encodeError,
  // One newline only: a blank line would make some clients dispatch an empty event.
  keepAlive: ': keep-alive\n\n',
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  decodeEvents,
  encodeEvents,
}
