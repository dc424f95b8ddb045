// A whole answer: read as the stream it could have been, written block by block.

import type { ChatResponse } from '../../ir/event.ts'
import { fold } from '../../ir/fold.ts'
import { isObject, type JsonObject } from '../../ir/json.ts'
import { withPrompt } from '../../ir/usage.ts'
import type { Ask, Undo } from '../codec.ts'
import { isToldError, malformedAnswer } from '../pass.ts'
import { searchBlocks } from '../tools/search-calls.ts'
import { encodePart } from './blocks.ts'
import { messageId, namesRead } from './names.ts'
import { Reader } from './reader.ts'
import { encodeStop } from './stop.ts'
import { encodeSearches, encodeTier, encodeUsage } from './usage.ts'

/** Throws `upstream_error` on a body that is no answer, and the provider's failure where the body is one. */
export const decodeResponse = (body: JsonObject, undo: Undo = {}): ChatResponse => {
  const reader = new Reader(undo)
  if (body.type === 'error' || isToldError(body.error)) return fold(reader.read(body, 'error'))
  if (!holdsPiece(body) && !Array.isArray(body.content)) throw malformedAnswer()
  return fold([...reader.read({ type: 'message_start', message: body }), ...reader.read({ type: 'message_stop' })])
}

/** A text or one block in the place of blocks: what reads it for another wire can read that. */
export const holdsPiece = ({ type, content, error }: JsonObject): boolean =>
  type === 'message' && (typeof content === 'string' || isObject(content)) && !isToldError(error)

/** Neither content nor a reason to end: no answer, whatever some servers put beside it. */
export const saysNothing = ({ content, stop_reason: reason = null }: JsonObject): boolean =>
  reason === null && Array.isArray(content) && content.length === 0

export const encodeResponse = (response: ChatResponse, ask: Ask): JsonObject => {
  const nameOf = namesRead(ask.body)
  const calls = response.parts.filter(({ type }) => type === 'tool-call').length
  const refused = response.parts.some(({ type }) => type === 'refusal')
  const searches = response.parts.filter(
    (part) => part.type === 'opaque' && part.origin !== 'messages' && searchBlocks(part.value).length > 0,
  ).length
  return {
    id: messageId(response.id),
    type: 'message',
    role: 'assistant',
    model: ask.model,
    content: response.parts.flatMap((part) => encodePart(part, nameOf)),
    ...encodeStop(response.finish, response.stopSequence, calls, refused),
    usage: {
      ...encodeUsage(withPrompt(response.usage, ask.inputEstimate), encodeTier(response.serviceTier)),
      ...encodeSearches(searches),
    },
  }
}
