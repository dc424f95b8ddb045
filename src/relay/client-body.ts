// A request's body: parsed as far as the gateway needs, and passed on byte for byte. A small one is parsed whole. A large
// one, as agents send with every turn, is outlined: its long strings are not decoded until something needs them.

import { isUtf8 } from 'node:buffer'
import { GatewayError, invalidRequest } from '../errors.ts'
import { isObject, type Json, type JsonObject } from '../ir/json.ts'
import { asBuffer } from '../lib/as-buffer.ts'
import { isPlainBase64 } from '../lib/base64.ts'
import { collectAfter } from '../lib/collect.ts'
import { ESCAPED_BYTES } from '../lib/json-codes.ts'
import { MARKED_BYTES, type Marked, markLong } from '../lib/json-marked.ts'
import { type Outline, outermostOf, outlining } from '../lib/json-outline.ts'
import { createPicker } from '../lib/json-pick.ts'
import { READ_BYTES, readInTurns, readNow } from '../lib/json-reader.ts'
import { type Container, findMember, type Slot } from '../lib/json-scan.ts'
import type { Scanning } from '../lib/json-scanner/pieces.ts'
import { createSharedMembers, type Shared } from '../lib/json-shared.ts'
import { type Edit, type Names, spliceBytesOnce, spliceOnce } from '../lib/json-splice.ts'
import { type Bound, JSON_BOUNDS, type Read, TooMuchJson } from '../lib/json-survey.ts'
import { free } from '../lib/memory.ts'
import type { Sent } from '../lib/pieces.ts'
import { atOnce, inTurns, isStepOver, type Steps } from '../lib/steps.ts'
import type { Turns } from '../lib/turns.ts'
import { DECISIVE, PROMPT } from '../wire/decisive.ts'
import { decidesWithin } from '../wire/models-within.ts'
import { SEAL_PREFIX } from '../wire/seal.ts'
import { unreadIn } from '../wire/turns/unread.ts'
import { countText, FILE_BYTES, isSaid, leastInput, mayBeFile, tokensIn, type Weight, weigh } from './estimate.ts'

/** `plain`: whether no number in it has more digits than numbers hold, as far as that is known. */
export type Whole = { readonly text: string; body: JsonObject; plain: boolean }

export type ClientBody = {
  /** Of its JSON text: in bytes, or in characters where it has been decoded. */
  readonly size: number
  /** What it is sent as; absent for JSON. */
  readonly contentType?: string
  /** What decisions are made by. Of a large body, long strings are cut to their beginnings. */
  readonly outline: JsonObject
  /** Tokens, by a quick guess. */
  readonly inputEstimate: number
  /** Whether it may hold a picture: where it is false, nothing in it decodes as one. */
  readonly mayShow: boolean
  /** Tokens that the prompt surely takes. Counted when asked for. */
  readonly leastInput: number
  /** An outermost member exactly. Of a large body, it alone is parsed. */
  member(name: string): Json | undefined
  /** The same as its client wrote it, in the body's own memory; undefined for none, and where those bytes are not at hand. */
  written?(name: string): Uint8Array<ArrayBuffer> | undefined
  /** The elements of a list that is an outermost member, each exactly, parsed as they are asked for; undefined for others. */
  elements(name: string): Iterable<Json> | undefined
  /** All of it. */
  whole(): Whole
  /**
   * For a translation, where much need not be read: all of it, but with marks for that, and what puts its bytes back into the
   * request that is made of it.
   */
  readonly marked?: { readonly body: JsonObject } & Pick<Marked, 'size' | 'written'>
  /**
   * All of it with edits, as a request sends it. A member that may decide and is written more than once is sent once, as it
   * stands in the outline: servers differ in which of the two they read, and each must read what was admitted.
   */
  edited(edits: readonly Edit[]): Sent
  /** Gives the memory of a large one back: from then on only its size, its outline and its estimate may be asked for. */
  free?(): void
}

/** Members that decide, and those that hold others: at some server any of them may name the model that answers. */
const ONCE: Names = {
  has: (name, isContainer) => isContainer || DECISIVE.has(String(name)) || decidesWithin(String(name)),
}

/** What a large body holds. Throws `invalid_request` for what holds more than it may. */
const readLargeNow = (bytes: Uint8Array<ArrayBuffer>, options: Scanning): Read => {
  try {
    return readNow(bytes, options)
  } catch (cause) {
    return refuseTooMuch(cause)
  }
}

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
 * Throws `invalid_json`, and `invalid_request` for JSON that is no object or holds more than it may. A large body is
 * outlined: parsing a small one costs little.
 */
export const openBody = (bytes: Uint8Array<ArrayBuffer>, translates: Translates = () => false): ClientBody => {
  if (!isLarge(bytes)) return openText(bodyText(bytes))
  const ahead = needsAll(bytes, translates)
  const read = readLargeNow(bytes, ahead ? WHOLE : OUTLINED)
  return atOnce(opening(bytes, ahead || isTranslated(bytes, read, translates), read))
}

/** The same in turns of the event loop; a small body is not waited for. */
export const openInTurns = (
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
  const model = createPicker(bytes, outermostOf(bytes, read)?.slots ?? []).member('model')
  return typeof model === 'string' && translates(model)
}

/** An agent sends the same with every turn, and so do others who use it. */
const TOOLS = createSharedMembers('tools')
const OUTLINED: Scanning = { sharing: TOOLS }
/** The same for translations, nothing in them cut. */
const WHOLE_TOOLS = createSharedMembers(TOOLS.name)
const WHOLE: Scanning = { outlined: false }

/** What takes longer than a turn is several steps for a body of more bytes. */
const STEP_BYTES = 1024 * 1024

function* opening(bytes: Uint8Array<ArrayBuffer>, isWhole: boolean, read: Read): Steps<ClientBody> {
  if (bytes[0] === BOM) return openText(bodyText(bytes))
  const isLong = bytes.byteLength > STEP_BYTES
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
  else if (outermost !== undefined) noteTools(bytes, outlineOf, outermost, cut)
  const cutBytes = yield* weighing(asBuffer(bytes), cut)
  const picker = createPicker(bytes, outermost?.slots ?? [])
  // Of a text that is cut it cannot be seen whether it is a thought.
  const isCutSaid = (name: string): boolean => isSaid(name) && !(thoughts && name === 'text')
  return {
    size: bytes.byteLength,
    outline: outlineOf,
    inputEstimate: tokensIn(outlined + cutBytes),
    mayShow,
    get leastInput() {
      const inShared = shared === undefined ? 0 : bytesCut(asBuffer(shared.shared.bytes), shared.shared.cut, isCutSaid)
      return leastInput(outlineOf, said + inShared + bytesCut(asBuffer(bytes), cut, isCutSaid))
    },
    member: (name) => picker.member(name) as Json | undefined,
    written: picker.written,
    elements: (name) => picker.elements(name) as Iterable<Json> | undefined,
    whole: () => {
      body ??= objectIn(bodyText(bytes))
      return wholeOf(body, () => bodyText(bytes), plain)
    },
    edited: (edits) => spliceBytesOnce(bytes, edits, ONCE, outermost),
    free: () => free(bytes),
  }
}

/** What a shared member weighs, its cut strings included: found once. */
const weightOf = (shared: Shared): Weight => {
  const known = WEIGHTS.get(shared)
  if (known !== undefined) return known
  const weight = weigh(shared.value)
  weight.bytes += weighCut(asBuffer(shared.bytes), shared.cut)
  WEIGHTS.set(shared, weight)
  return weight
}
const WEIGHTS = new WeakMap<Shared, Weight>()

/** The member of that name where it is written once. */
const onlySlot = ({ slots }: Container, name: string): Slot | undefined => {
  const [slot, other] = slots.filter(({ key }) => key === name)
  return other === undefined ? slot : undefined
}

/** Has the tools shared with later requests, where they are written once. */
const noteTools = (
  bytes: Uint8Array<ArrayBuffer>,
  outline: JsonObject,
  outermost: Container,
  cut: Outline['cut'],
): void => {
  const { tools } = outline
  const slot = onlySlot(outermost, TOOLS.name)
  if (slot === undefined || !Array.isArray(tools)) return
  const { valueStart, end } = slot
  TOOLS.note(bytes.subarray(valueStart, end), () => {
    const own: number[] = []
    for (let one = 0; one < cut.length; one++) {
      const at = cut[one] as number
      if (at > valueStart && at < end) own.push(at - valueStart)
    }
    return { value: tools, cut: own }
  })
}

/** What the parts of strings that an outline has cut weigh. */
const weighCut = (bytes: Buffer, cut: Outline['cut']): number => atOnce(weighing(bytes, cut))

function* weighing(bytes: Buffer, cut: Outline['cut']): Steps<number> {
  let weight = 0
  for (let one = 0; one < cut.length; one += 3) {
    if (isStepOver(one / 3)) yield
    const start = cut[one] as number
    const length = (cut[one + 2] as number) - start
    weight += weightAt(bytes, start, length) - ((cut[one + 1] as number) - start)
  }
  return weight
}

/** What a long string weighs, by where its contents begin. */
const weightAt = (bytes: Buffer, start: number, length: number): number =>
  length < FILE_BYTES || !mayBeFile(bytes, start)
    ? length
    : countText(bytes.toString('latin1', start, start + FILE_BYTES), length, () => nameBefore(bytes, start))

/** How long the parts are that an outline has cut, of strings in such members; characters that are escaped by number a byte each. */
const bytesCut = (bytes: Buffer, cut: Outline['cut'], counts: (name: string) => boolean): number => {
  let sum = 0
  for (let one = 0; one < cut.length; one += 3) {
    if (!counts(nameBefore(bytes, cut[one] as number))) continue
    const [from, to] = [cut[one + 1] as number, cut[one + 2] as number]
    sum += to - from - spared(bytes, from, to)
  }
  return sum
}

/** What escapes by number take in a part of a JSON string beyond a byte each. */
const spared = (bytes: Buffer, from: number, to: number): number => {
  const part = bytes.subarray(from, to)
  let sum = 0
  for (let at = part.indexOf(BY_NUMBER); at !== -1; at = part.indexOf(BY_NUMBER, at + ESCAPED_BYTES))
    sum += ESCAPED_BYTES - 1
  return sum
}
const BY_NUMBER = '\\u'

/** The name of the member whose string begins there, as it is written; '' for one in a list. */
const nameBefore = (bytes: Buffer, start: number): string =>
  NAME.exec(bytes.toString('latin1', Math.max(0, start - 64), start))?.[1] ?? ''
const NAME = /[^\\]"([^"\\]*)" *: *"$/

/** Where clients name the model: among the first members. */
const AHEAD_BYTES = 512

/** The model named near the start of a body, if it is. Only a hint: the parsed body decides. */
const modelAhead = (bytes: Uint8Array<ArrayBuffer>): string | undefined => {
  const head = asBuffer(bytes).toString('latin1', 0, AHEAD_BYTES)
  const found = findMember(head, 'model')
  return found === undefined || found.end >= head.length ? undefined : head.slice(found.start + 1, found.end - 1)
}

/** A body that is text already. Throws as `openBody` does. */
export const openText = (text: string): ClientBody =>
  openWhole(objectIn(text), {
    ...{ size: text.length, plain: false },
    read: () => text,
    edited: (edits) => spliceOnce(text, edits, ONCE),
  })

/** The most that is read of a request to translate it: files and what passes unread aside, several times a million tokens. */
const MOST_READ = 8 * 1024 * 1024
/** A longer string is a file's, or one text. */
const FILE_OR_TEXT_BYTES = 256 * 1024
/** What stands for a shorter one that passes unread takes more than it does. */
const SPARED_BYTES = 2 * 1024

const requireReadable = (bytes: number): void => {
  if (bytes <= MOST_READ) return
  const most = `${MOST_READ / 1024 / 1024} MB`
  const held = `The request holds more than ${most} of tools, calls and short texts`
  throw invalidRequest(`${held}, which is more than is translated for this model. Send fewer tools or messages.`)
}

/** How much of a body is in strings for which a mark might stand. */
const longIn = (cut: Read['cut']): number => {
  let sum = 0
  for (let one = 0; one < cut.length; one += 3) {
    const length = (cut[one + 2] as number) - (cut[one] as number)
    if (length >= MARKED_BYTES) sum += length
  }
  return sum
}

/** What is read beside the marks that stay, and what they spare no memory by. */
const readBeside = (marks: Marked, kept: ReadonlySet<number>): number => {
  let read = marks.size
  for (let which = 0; which < marks.count; which++) {
    const { start, end, hidden } = marks.placeOf(which)
    if (end - start < (kept.has(which) ? SPARED_BYTES : FILE_OR_TEXT_BYTES)) read += hidden
  }
  return read
}

/** A large body that will be translated. What no translation reads, most of it, is passed over. */
function* openMarked(bytes: Uint8Array<ArrayBuffer>, read: Read): Steps<ClientBody> {
  const isLong = bytes.byteLength > STEP_BYTES
  const outermost = outermostOf(bytes, read)
  const slot = outermost && onlySlot(outermost, WHOLE_TOOLS.name)
  const tools = slot && bytes.subarray(slot.valueStart, slot.end)
  const shared = tools && WHOLE_TOOLS.find(tools)
  const passed = shared && slot && { start: slot.valueStart, end: slot.end }
  const marks = outermost && isUtf8(bytes) ? markLong(bytes, read.cut, passed) : undefined
  if (outermost === undefined || marks === undefined) return yield* openUnmarked(bytes, read)
  if (isLong) yield
  const body = objectIn(marks.text())
  if (isLong) yield
  const all = asBuffer(bytes)
  const kept = new Set<number>()
  let hidden = 0
  let looked = 0
  for (const { text, isData } of unreadIn(body, !all.includes(SEAL_PREFIX))) {
    if (isStepOver(looked++)) yield
    const which = marks.markIn(text)
    if (which === undefined) continue
    const place = marks.placeOf(which)
    if (isData && !isPlainBase64(all.subarray(place.kept, place.end))) continue
    kept.add(which)
    const length = place.end - place.start
    hidden += place.hidden + weightAt(all, place.start, length) - length
  }
  if (isLong) yield
  requireReadable(readBeside(marks, kept))
  if (kept.size < marks.count) yield* unmarking(body, marks, kept)
  if (marks.size > STEP_BYTES) {
    yield
    collectAfter(bytes.byteLength)
    yield
  }
  const { bytes: weight, mayShow, said } = measured(() => weigh(body, false, shared && weightOf(shared)))
  const list = body[WHOLE_TOOLS.name]
  if (shared !== undefined) body[WHOLE_TOOLS.name] = shared.value as Json
  else if (tools !== undefined && Array.isArray(list)) WHOLE_TOOLS.note(tools, () => ({ value: list, cut: [] }))
  const picker = createPicker(bytes, outermost.slots)
  let whole = kept.size === 0 ? body : undefined
  return {
    size: bytes.byteLength,
    outline: body,
    inputEstimate: tokensIn(weight + hidden),
    mayShow,
    get leastInput() {
      const places = Array.from(kept, marks.placeOf).filter(({ start }) => isSaid(nameBefore(all, start)))
      return leastInput(
        body,
        places.reduce((sum, place) => sum + place.hidden - spared(all, place.kept, place.end), said),
      )
    },
    member: (name) => picker.member(name) as Json | undefined,
    written: picker.written,
    elements: (name) => picker.elements(name) as Iterable<Json> | undefined,
    whole: () => {
      whole ??= objectIn(bodyText(bytes))
      return wholeOf(whole, () => bodyText(bytes), true)
    },
    edited: (edits) => spliceBytesOnce(bytes, edits, ONCE, outermost),
    free: () => free(bytes),
    ...(kept.size > 0 && { marked: { body, size: marks.size, written: marks.written } }),
  }
}

/** Puts back what stood for every mark but those, so many bytes in a step. */
export function* unmarking(body: JsonObject, marks: Marked, kept: ReadonlySet<number>): Steps<void> {
  const left: (JsonObject | Json[])[] = [body]
  let done = 0
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    const within = value as JsonObject
    for (const name in within) {
      const one = within[name]
      if (typeof one === 'object' && one !== null) left.push(one)
      else if (typeof one === 'string') {
        const which = marks.markIn(one)
        if (which === undefined || kept.has(which)) continue
        const whole = marks.whole(which)
        within[name] = whole
        done += whole.length
        if (done < STEP_BYTES) continue
        done = 0
        yield
      }
    }
  }
}

/** The body to be translated as a whole. */
export const withoutMarks = ({ marked: _, ...body }: ClientBody): ClientBody => body

/** One of which all is read, as no mark can stand for anything in it. */
const openUnmarked = (bytes: Uint8Array<ArrayBuffer>, read: Read): Steps<ClientBody> => {
  if (!read.faulty) requireReadable(bytes.byteLength - longIn(read.cut))
  return openBytes(bytes, !read.longNumber)
}

/** A large body, read whole. Its text is decoded anew where it is needed: as a string it may take twice its bytes. */
function* openBytes(bytes: Uint8Array<ArrayBuffer>, plain: boolean): Steps<ClientBody> {
  const isLong = bytes.byteLength > STEP_BYTES
  let text = bodyText(bytes)
  const size = text.length
  if (isLong) yield
  const body = objectIn(text)
  text = ''
  if (isLong) {
    yield
    collectAfter(bytes.byteLength)
    yield
  }
  const edited = (edits: readonly Edit[]): Sent => spliceBytesOnce(bytes, edits, ONCE)
  return openWhole(body, { size, plain, read: () => bodyText(bytes), edited, free: () => free(bytes) })
}

type Text = { size: number; plain: boolean; read: () => string } & Pick<ClientBody, 'edited' | 'free'>

/** `read` gives the text, which is not held. */
const openWhole = (body: JsonObject, { size, plain, read, edited, free }: Text): ClientBody => {
  const { bytes, mayShow, said } = measured(() => weigh(body))
  return {
    size,
    outline: body,
    inputEstimate: tokensIn(bytes),
    mayShow,
    get leastInput() {
      return leastInput(body, said)
    },
    member: (name) => body[name],
    elements: (name) => listIn(body[name]),
    whole: () => wholeOf(body, read, plain),
    edited,
    ...(free && { free }),
  }
}

const listIn = (value: Json | undefined): Json[] | undefined => (Array.isArray(value) ? value : undefined)

const wholeOf = (body: JsonObject, read: () => string, plain: boolean): Whole => ({
  plain,
  get text() {
    return read()
  },
  body,
})

const objectIn = (text: string): JsonObject => asObject(parsed(() => JSON.parse(text)))

/** The error for a body nested deeper than any real one. */
export const tooDeep = (cause: unknown): GatewayError =>
  new GatewayError('invalid_request', 'The request is nested too deeply. Flatten it.', { cause })

/** The first byte of a byte order mark. */
const BOM = 0xef

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Throws `invalid_json` for what is not UTF-8. */
export const bodyText = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch (error) {
    throw notUtf8(error)
  }
}

const parsed = <T>(parse: () => T): T => {
  try {
    return parse()
  } catch (cause) {
    throw notJson(cause)
  }
}

function* parsing<T>(steps: Steps<T>): Steps<T> {
  try {
    return yield* steps
  } catch (cause) {
    throw notJson(cause)
  }
}

const notJson = (cause: unknown): GatewayError =>
  new GatewayError('invalid_json', 'The body is not valid JSON. Check it for a cut end, stray commas and quotes.', {
    cause,
  })

// Checking and translating recurse as deeply as measuring: a body that overflows the stack here is refused.
const measured = <T>(measure: () => T): T => {
  try {
    return measure()
  } catch (cause) {
    throw tooDeep(cause)
  }
}

const asObject = (value: unknown): JsonObject => {
  if (!isObject(value)) throw invalidRequest('The body must be a JSON object.')
  return value
}

const notUtf8 = (cause?: unknown): GatewayError =>
  new GatewayError('invalid_json', 'The body is not valid UTF-8. Send JSON encoded as UTF-8.', { cause })

/** Stands in for a body that is no longer needed. */
export const NO_BODY: ClientBody = openText('{}')

/** The prompt, and what chat completions may bring besides it that is as long. */
const LONG: ReadonlySet<string> = new Set([...PROMPT, 'functions', 'prediction'])

/** What settling an exchange needs of a body that has been answered: figures and settings, and nothing of the prompt. */
export const withoutPrompt = ({ size, inputEstimate, outline }: ClientBody): ClientBody => ({
  ...NO_BODY,
  size,
  inputEstimate,
  outline: Object.fromEntries(Object.entries(outline).filter(([name]) => !LONG.has(name))),
})

/** The body with another estimate. What it surely takes is not counted for that. */
export const withEstimate = (body: ClientBody, inputEstimate: number): ClientBody => {
  const { size, contentType, outline, mayShow, member, written, elements, whole, edited, free, marked } = body
  const sent = contentType === undefined ? {} : { contentType }
  return {
    ...{ size, ...sent, outline, inputEstimate, mayShow, member, elements, whole, edited },
    ...(written && { written }),
    ...(free && { free }),
    ...(marked && { marked }),
    get leastInput() {
      return body.leastInput
    },
  }
}
