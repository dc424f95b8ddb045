// The messages wire: its codec, for the clients and for the providers that speak it.

import type { ChatCodec } from '../codec.ts'
import { faultOf, noAnswer, usageIn } from '../pass.ts'
import { counting } from './counting.ts'
import { decodeEvents } from './decode-events.ts'
import { encodeEvents, PING } from './encode-events.ts'
import { decodeError, encodeError, failureIn } from './error.ts'
import { sentCallId } from './names.ts'
import { outputCap, passEdits } from './pass.ts'
import { decodeInSteps, decodeRequest, encodeInSteps, encodeRequest } from './request.ts'
import { decodeResponse, encodeResponse, holdsPiece, saysNothing } from './response.ts'
import { MessagesRequest } from './schema.ts'
import { mended } from './stop.ts'
import { tap } from './tap.ts'
import { decodeBilled } from './usage.ts'

export const messages: ChatCodec = {
  wire: 'messages',
  requestSchema: MessagesRequest,
  passEdits,
  outputCap,
  decodeRequest,
  decodeInSteps,
  encodeRequest,
  encodeInSteps,
  decodeResponse,
  encodeResponse,
  decodeEvents,
  encodeEvents,
  writtenCallId: sentCallId,
  decodeError,
  encodeError,
  faultIn: (body, asked) =>
    failureIn(body) ??
    (asked === undefined && holdsPiece(body) ? undefined : faultOf(body, 'content', decodeError)) ??
    (saysNothing(body) ? noAnswer(body, decodeError) : undefined),
  readUsage: (body) => usageIn(body, decodeBilled),
  tap,
  answerEdits: (body) => {
    const reason = mended(body)
    return reason === undefined ? [] : [{ path: ['stop_reason'], value: JSON.stringify(reason) }]
  },
  counting,
  keepAlive: PING,
}
