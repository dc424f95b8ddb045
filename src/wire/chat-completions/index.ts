// The chat-completions wire: its codec, for the clients and for the providers that speak it.

import { envelope, type GatewayError } from '../../errors.ts'
import { asList, type JsonObject } from '../../ir/json.ts'
import type { ChatCodec } from '../codec.ts'
import { KEEP_ALIVE, noAnswer, usageIn } from '../pass.ts'
import { cutAnswer } from './cut.ts'
import { decodeEvents } from './decode-events.ts'
import { encodeEvents } from './encode-events.ts'
import { decodeError, failureIn } from './error.ts'
import { endEdits } from './finish.ts'
import { needsTranslation, outputCap, passEdits } from './pass.ts'
import { decodeInSteps, decodeRequest, encodeInSteps, encodeRequest } from './request.ts'
import { decodeResponse, encodeResponse, messageOf } from './response.ts'
import { ChatCompletionsRequest } from './schema.ts'
import { tap } from './tap.ts'
import { decodeUsage } from './usage.ts'

export const chatCompletions: ChatCodec = {
  wire: 'chat-completions',
  requestSchema: ChatCompletionsRequest,
  passEdits,
  needsTranslation,
  outputCap,
  tap,
  answerEdits: endEdits,
  counting: undefined,
  faultIn: (body) => failureIn(body) ?? choiceless(body),
  readUsage: (body) => usageIn(body, decodeUsage),
  decodeError,
  cutAnswer,
  // Its clients read the gateway's envelope as it is.
  encodeError: envelope,
  keepAlive: KEEP_ALIVE,
  decodeRequest,
  decodeInSteps,
  encodeRequest,
  encodeInSteps,
  decodeResponse,
  encodeResponse,
  decodeEvents,
  encodeEvents,
}

/** A chunk may have no choice, a whole answer has one with its message. */
const choiceless = (body: JsonObject): GatewayError | undefined =>
  asList(body.choices).some((choice) => messageOf(choice) !== undefined) ? undefined : noAnswer(body, decodeError)
