// Decodes and encodes a whole answer, as the stream that it could have been.

import type { ChatResponse } from '../../ir/event.ts'
import { fold, unfold } from '../../ir/fold.ts'
import type { JsonObject } from '../../ir/json.ts'
import type { Ask, Undo } from '../codec.ts'
import { isToldError, malformedAnswer } from '../pass.ts'
import { answerReader } from './decode-events.ts'
import { answerWriter } from './encode-events.ts'
import { NO_FRAMES } from './frames.ts'

/** Throws `upstream_error` for a body that is not an answer of this wire, and the provider's error in a 200 answer. */
export const decodeResponse = (body: JsonObject, undo: Undo = {}): ChatResponse => {
  if (!Array.isArray(body.output) && !isToldError(body.error)) {
    throw malformedAnswer()
  }
  return fold(answerReader(undo).whole(body))
}

export const encodeResponse = (answer: ChatResponse, ask: Ask): JsonObject => {
  const writer = answerWriter(ask, NO_FRAMES)
  for (const event of unfold(answer)) writer.write(event)
  return writer.finished ?? {}
}
