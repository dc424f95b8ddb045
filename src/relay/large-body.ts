// A client's body as it has come, opened in turns of the event loop: a small one is parsed whole, a large one, as agents send
// with every turn, is outlined: its long strings are not decoded until something needs them.

import { isUtf8 } from 'node:buffer'
import { GatewayError } from '../errors.ts'
import type { Json, JsonObject } from '../ir/json.ts'
import { asBuffer } from '../lib/as-buffer.ts'
import { type Outline, outermostOf, outlining } from '../lib/json-outline.ts'
import { createPicker } from '../lib/json-pick.ts'
import { READ_BYTES, readInTurns } from '../lib/json-reader.ts'
import { type Container, findMember, onlySlot } from '../lib/json-scan.ts'
import type { Scanning } from '../lib/json-scanner/pieces.ts'
import { createSharedMembers } from '../lib/json-shared.ts'
import { type Bound, JSON_BOUNDS, type Read, TooMuchJson } from '../lib/json-survey.ts'
import { inTurns, type Steps } from '../lib/steps.ts'
import type { Turns } from '../lib/turns.ts'
import { SEAL_PREFIX } from '../wire/seal.ts'
import { asObject, BOM, bodyText, measured, notUtf8, objectIn, parsing, tooDeep } from './body-json.ts'
import { type ClientBody, inPlace, openText, wholeOf } from './client-body.ts'
import { bytesCut, weighing, weightOf } from './cut-strings.ts'
import { isSaid, leastInput, tokensIn, weigh } from './estimate.ts'
import { openBytes, openMarked, openUnmarked, takesSteps } from './marked-body.ts'

const refuseTooMuch = (cause: unknown): never => {
  throw cause instanceof TooMuchJson ? tooMuch(cause) : cause
}

const isLarge = ({ byteLength }: Uint8Array): boolean => byteLength >= READ_BYTES

const tooMuch = (cause: TooMuchJson): GatewayError => {
  const { bound } = cause
  if (bound === 'depth') return tooDeep(cause)
  const most = JSON_BOUNDS[bound].toLocaleString('en-US')
  return new GatewayError('invalid_request', `The request holds ${HELD[bound].replace('%', most)}.`, { cause })
}

const HELD: Record<Exclude<Bound, 'depth'>, string> = {
  containers: 'more than % objects and lists. Send fewer messages',
  values: 'more than % values. Send fewer messages',
  forms: 'more than % different kinds of objects. Send data as text',
  escapes: 'more than % escape sequences. Send UTF-8 as it is, or less text',
  digits: 'a number of more than % digits. Send it as text',
}

/** Whether a body for that model will be translated, for which no outline is enough. */
type Translates = (model: string) => boolean

/**
 * A small body is not waited for. Throws `invalid_json`, and `invalid_request` for JSON that is no object or holds more than it
 * may.
 */
export const openBody = (
  bytes: Uint8Array<ArrayBuffer>,
  translates: Translates,
  turns: Turns,
): ClientBody | Promise<ClientBody> =>
  isLarge(bytes) ? openLarge(bytes, translates, turns) : turns(bytes.byteLength, () => openText(bodyText(bytes)))

const openLarge = async (bytes: Uint8Array<ArrayBuffer>, translates: Translates, turns: Turns): Promise<ClientBody> => {
  const ahead = needsAll(bytes, translates)
  const read = await readInTurns(bytes, turns, ahead ? WHOLE : OUTLINED).catch(refuseTooMuch)
  return inTurns(opening(bytes, ahead || isTranslated(bytes, read, translates), read), bytes.byteLength, turns)
}

/** Whether all of a body is parsed: it is to be translated, or its text begins with a mark. */
const needsAll = (bytes: Uint8Array<ArrayBuffer>, translates: Translates): boolean => {
  const model = modelAhead(bytes)
  return bytes[0] === BOM || (model !== undefined && translates(model))
}

/** The same once its members are known: many clients name the model behind the prompt. */
const isTranslated = (bytes: Uint8Array<ArrayBuffer>, read: Read, translates: Translates): boolean => {
  if (read.faulty) return false
  const written = createPicker(bytes, outermostOf(bytes, read)?.slots ?? []).written('model')
  if (written === undefined || isLarge(written)) return false
  const model: unknown = JSON.parse(asBuffer(written).toString())
  return typeof model === 'string' && translates(model)
}

/** The model named near the start of a body, if it is. Only a hint: the parsed body decides. */
const modelAhead = (bytes: Uint8Array<ArrayBuffer>): string | undefined => {
  const head = asBuffer(bytes).toString('latin1', 0, AHEAD_BYTES)
  const found = findMember(head, 'model')
  return found === undefined || found.end >= head.length ? undefined : head.slice(found.start + 1, found.end - 1)
}

/** Where clients name the model: among the first members. */
const AHEAD_BYTES = 512

/** An agent sends the same with every turn, and so do others who use it. */
const TOOLS = createSharedMembers('tools')
const OUTLINED: Scanning = { sharing: TOOLS }
const WHOLE: Scanning = { outlined: false }

function* opening(bytes: Uint8Array<ArrayBuffer>, isWhole: boolean, read: Read): Steps<ClientBody> {
  if (bytes[0] === BOM) return openText(bodyText(bytes))
  const isLong = takesSteps(bytes, read)
  const plain = !read.longNumber
  if (isWhole) return yield* !plain || read.faulty ? openUnmarked(bytes, read) : openMarked(bytes, read)
  if (!isUtf8(bytes)) throw notUtf8()
  const { value, ascii, outermost, cut, shared } = yield* parsing(outlining(bytes, read))
  if (isLong) yield
  const of = shared && weightOf(shared.shared)
  // Sealed reasoning is recognised by its whole text, and a document of text by the member beside it.
  const { bytes: outlined, textFile, mayShow, said, thoughts } = measured(() => weigh(value, ascii, of))
  if (textFile || asBuffer(bytes).includes(SEAL_PREFIX)) return yield* openBytes(bytes, plain)
  let body: JsonObject | undefined
  const outlineOf = asObject(value)
  if (shared !== undefined) outlineOf[shared.name] = shared.shared.value as Json
  else if (outermost !== undefined) yield* notingTools(bytes, outlineOf, outermost, cut)
  const cutBytes = yield* weighing(asBuffer(bytes), cut)
  // Of a text that is cut it cannot be seen whether it is a thought.
  const isCutSaid = (name: string): boolean => isSaid(name) && !(thoughts && name === 'text')
  return {
    ...inPlace(bytes, outermost),
    outline: outlineOf,
    inputEstimate: tokensIn(outlined + cutBytes),
    mayShow,
    get leastInput() {
      const inShared = shared === undefined ? 0 : bytesCut(asBuffer(shared.shared.bytes), shared.shared.cut, isCutSaid)
      return leastInput(outlineOf, said + inShared + bytesCut(asBuffer(bytes), cut, isCutSaid))
    },
    whole: () => {
      body ??= objectIn(bodyText(bytes))
      return wholeOf(body, () => bodyText(bytes), plain)
    },
  }
}

/** Has the tools shared with later requests, where they are written once. */
function* notingTools(
  bytes: Uint8Array<ArrayBuffer>,
  outline: JsonObject,
  outermost: Container,
  cut: Outline['cut'],
): Steps<void> {
  const { tools } = outline
  const slot = onlySlot(outermost, TOOLS.name)
  if (slot === undefined || !Array.isArray(tools)) return
  const { valueStart, end } = slot
  yield* TOOLS.noting(bytes.subarray(valueStart, end), () => {
    const own: number[] = []
    for (let one = 0; one < cut.length; one++) {
      const at = cut[one] as number
      if (at > valueStart && at < end) own.push(at - valueStart)
    }
    return { value: tools, cut: own }
  })
}
