// A whole answer, read and made ready for the client: as its bytes came, translated, or made of a stream that came in its place.

import { type JsonObject, parseObject } from '../ir/json.ts'
import { withExact } from '../lib/json-exact.ts'
import type { Edit } from '../lib/json-splice.ts'
import { free } from '../lib/memory.ts'
import { putListsAside } from '../lib/number-lists.ts'
import { atOnce, inTurns, type Steps } from '../lib/steps.ts'
import { wantsSeveral } from '../wire/chat-completions/pass.ts'
import type { Undo } from '../wire/codec.ts'
import { chatCodec } from '../wire/index.ts'
import { malformedAnswer } from '../wire/pass.ts'
import { EVENT_STREAM, passedFromStream, wholeFromStream } from './adapt/other-form.ts'
import { allowanceOf } from './answer-bounds.ts'
import { ANSWER_BYTES, type Received, receive, textOf, withModelName } from './answer-text.ts'
import { markedAnswer } from './marked-answer.ts'
import {
  askFor,
  crossing,
  faultListed,
  hasOtherForm,
  hearAll,
  type JsonAnswer,
  keeperOf,
  mayBeKept,
  type Read,
  type Reading,
  VAST_CHARS,
} from './reading.ts'
import type { Target } from './target.ts'
import { quirksOf, translateResponse } from './translate.ts'

export const readAnswer: Read<JsonAnswer> = async (reading, response, heard) => {
  const { relay, abort } = reading
  const allowed = allowanceOf(reading.codec.wire, reading.request.body.outline)
  const options = { heard, room: relay.room, turns: relay.turns, allowed }
  const received = await receive(response, ANSWER_BYTES, abort, options)
  if (reading.codec.isText?.(reading.request.body.outline) === true) {
    const text = textOf(received)
    if (parseObject(text) === undefined) return textAnswer(text, reading)
  }
  const size = received.bytes.byteLength
  if (size <= VAST_CHARS) return relay.turns(size, () => atOnce(wholeAnswer(textOf(received), reading)))
  return inTurns(vastAnswer(received, reading), size, relay.turns)
}

/** Where most of it need not be read, that is passed over. */
function* vastAnswer(received: Received, reading: Reading): Steps<JsonAnswer> {
  const { plan, request } = reading
  // Who exports what is said, keeps an answer or counts several reads all of it.
  const isKept = plan.undo !== undefined && mayBeKept(request)
  const isRead = isKept || request.trace?.said !== undefined || wantsSeveral(request.body.outline)
  const marked = isRead ? undefined : yield* markedAnswer(received, plan.undo !== undefined)
  if (marked !== undefined) {
    const answer = yield* answerOf({ ...marked, size: received.bytes.byteLength }, reading)
    const isCounted = Boolean(answer.usage?.input && answer.usage.output)
    const written = isCounted || plan.undo !== undefined ? marked.written(utf8.encode(answer.text)) : undefined
    if (written !== undefined) return { ...answer, text: written }
  }
  yield
  const text = textOf(received)
  free(received.bytes)
  const listed = isRead || received.read?.faulty !== false ? undefined : yield* listedAnswer(text, reading)
  return listed ?? (yield* wholeAnswer(text, reading))
}

/** One that is mostly lists of numbers, which are not built. Undefined where all of it must be read. */
function* listedAnswer(text: string, reading: Reading): Steps<JsonAnswer | undefined> {
  const { codec, request } = reading
  if (codec.listsWritten === undefined) return undefined
  const lists = yield* putListsAside(text)
  const body = parseObject(lists.text, true)
  if (body === undefined) return undefined
  const answer = yield* answerOf({ body, text: lists.text, size: text.length, isListed: true }, reading)
  const written = yield* lists.whole(answer.text, codec.listsWritten(body, request.body.outline))
  return written === undefined ? undefined : { ...answer, text: written }
}

const utf8 = new TextEncoder()

/** How the pages begin that proxies answer with. */
const PAGE = /^\s*<(?:!doctype|html)\b/i

const textAnswer = (text: string, reading: Reading): JsonAnswer => {
  const { target } = reading
  if (PAGE.test(text)) throw malformedAnswer()
  const told = { usage: undefined, rawUsage: undefined }
  hearAll(reading, { text })
  return { kind: 'json', target, text, ...told, body: { text }, contentType: 'text/plain; charset=utf-8' }
}

function* wholeAnswer(received: string, reading: Reading): Steps<JsonAnswer & { text: string }> {
  const body = parseObject(received, true)
  yield
  if (body !== undefined) return yield* answerOf({ body, text: received }, reading)
  const made = wholeIn(received, reading)
  return yield* answerOf({ body: made, text: JSON.stringify(made), isMade: true }, reading)
}

/**
 * `size`: about how long its text was as it came. `isMade`: of the stream that came in its place. `isListed`: its lists are not
 * in it.
 */
type Opened = { body: JsonObject; text: string; size?: number; isMade?: true; isListed?: true }

function* answerOf(
  { body, text, size = text.length, isMade, isListed }: Opened,
  reading: Reading,
): Steps<JsonAnswer & { text: string }> {
  const { request: exchange, target, codec, plan } = reading
  const fault = codec.faultIn(body, plan.undo === undefined ? exchange.body.outline : undefined)
  if (fault !== undefined) throw fault
  hearAll(reading, body)
  const read = codec.readUsage(body, target.model.tokensPer)
  let translated: JsonObject | undefined
  if (plan.undo !== undefined) {
    const exact = withExact(text, body)
    yield
    const across = crossing(reading, exchange.codec.operation ?? exchange.wire, plan.undo)
    translated = translateResponse(exact, across, size)
    yield
  }
  const made = translated ?? (isMade && body)
  if (made !== undefined) exchange.kept = keeperOf(reading)?.(made)
  const edits = (): Edit[] | undefined =>
    isListed === true ? undefined : codec.answerEdits?.(body, plan.cap, exchange.body.outline)
  const clientText =
    translated === undefined ? withModelName(text, body, target.model.id, edits()) : JSON.stringify(translated)
  return { kind: 'json', target, text: clientText, usage: read?.usage, rawUsage: read?.raw, body }
}

/** The answer in the text of a stream nobody asked for. Throws GatewayError for any other text. */
const wholeIn = (text: string, reading: Reading): JsonObject => {
  const { request, target, codec, plan } = reading
  const isStream = EVENT_STREAM.test(text)
  if (isStream && codec.otherForm !== undefined)
    return passedFromStream(codec, codec.otherForm.answer, text, askFor(reading))
  if (!isStream) throw faultListed(text, codec) ?? malformedAnswer()
  if (!hasOtherForm(reading)) throw malformedAnswer()
  const ask = askFor(reading)
  const body = target.wire === request.wire ? ask.body : {}
  return wholeFromStream(chatCodec(target.wire), text, { ...ask, body }, ownUndo(target, plan.cap))
}

const ownUndo = (target: Target, cap: number | undefined): Undo => ({
  ...(quirksOf(target).noDone === true ? { noDone: true } : {}),
  ...(cap === undefined ? {} : { cap }),
})
