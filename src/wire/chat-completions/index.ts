// The chat-completions wire: its codec, for the clients and for the providers that speak it.

import type { ChatCodec } from '../codec.ts'
import { faultOf, KEEP_ALIVE, usageIn } from '../pass.ts'
import { decodeEvents } from './decode-events.ts'
import { encodeEvents } from './encode-events.ts'
import { decodeError, encodeError, failureIn } from './error.ts'
import { outputCap, passEdits } from './pass.ts'
import { decodeRequest, encodeRequest } from './request.ts'
import { decodeResponse, encodeResponse } from './response.ts'
import { ChatCompletionsRequest } from './schema.ts'
import { tap } from './tap.ts'
import { decodeUsage } from './usage.ts'

export const chatCompletions: ChatCodec = {
  wire: 'chat-completions',
  requestSchema: ChatCompletionsRequest,
  passEdits,
  outputCap,
  tap,
  counting: undefined,
  faultIn: (body) => faultOf(body, 'choices', decodeError) ?? failureIn(body),
  readUsage: (body) => usageIn(body, decodeUsage),
  decodeError,
  encodeError,
  keepAlive: KEEP_ALIVE,
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  decodeEvents,
  encodeEvents,
}
