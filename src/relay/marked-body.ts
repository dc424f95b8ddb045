// A large body that is to be translated: what no translation reads, most of it, is passed over, and marks stand for it.

import { isUtf8 } from 'node:buffer'
import { invalidRequest } from '../errors.ts'
import type { Json, JsonObject } from '../ir/json.ts'
import { asBuffer } from '../lib/as-buffer.ts'
import { isPlainBase64 } from '../lib/base64.ts'
import { collectAfter } from '../lib/collect.ts'
import { MARKED_BYTES, type Marked, markLong } from '../lib/json-marked.ts'
import { outermostOf } from '../lib/json-outline.ts'
import { onlySlot } from '../lib/json-scan.ts'
import { createSharedMembers } from '../lib/json-shared.ts'
import { type Edit, spliceBytesOnce } from '../lib/json-splice.ts'
import type { Read } from '../lib/json-survey.ts'
import { free } from '../lib/memory.ts'
import type { Sent } from '../lib/pieces.ts'
import { isStepOver, type Steps } from '../lib/steps.ts'
import { SEAL_PREFIX } from '../wire/seal.ts'
import { unreadIn } from '../wire/turns/unread.ts'
import { bodyText, measured, objectIn } from './body-json.ts'
import { type ClientBody, inPlace, ONCE, openWhole, wholeOf } from './client-body.ts'
import { nameBefore, spared, weightAt, weightOf } from './cut-strings.ts'
import { isSaid, leastInput, tokensIn, weigh } from './estimate.ts'

/** What takes longer than a turn is several steps for a body of more bytes. */
const STEP_BYTES = 1024 * 1024
/** And for one of more objects and lists: an agent's largest has some thousand. */
const STEP_CONTAINERS = 10_000

export const takesSteps = ({ byteLength }: Uint8Array, { containers }: Read): boolean =>
  byteLength > STEP_BYTES || containers > STEP_CONTAINERS

/** Apart from those of outlines: nothing in them is cut. */
const WHOLE_TOOLS = createSharedMembers('tools')

/** The most that is read of a request to translate it: files and what passes unread aside, several times a million tokens. */
const MOST_READ = 8 * 1024 * 1024
/** A longer string is a file's, or one text. */
const FILE_OR_TEXT_BYTES = 256 * 1024
/** What stands for a shorter one that passes unread takes more than it does. */
const SPARED_BYTES = 2 * 1024

/** What stands for an object or a list on the way through a translation takes about eight times as much beside its text. */
const CONTAINER_BYTES = 128

const requireReadable = (bytes: number, containers: number): void => {
  if (bytes + containers * CONTAINER_BYTES <= MOST_READ) return
  const most = `${MOST_READ / 1024 / 1024} MB`
  const counted = `counting ${CONTAINER_BYTES} bytes for each object and list`
  const held = `The request holds more than ${most} of tools, calls and short texts, ${counted}`
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
export function* openMarked(bytes: Uint8Array<ArrayBuffer>, read: Read): Steps<ClientBody> {
  const isLong = takesSteps(bytes, read)
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
  requireReadable(readBeside(marks, kept), read.containers)
  if (kept.size < marks.count) yield* unmarking(body, marks, kept)
  if (marks.size > STEP_BYTES) {
    yield
    collectAfter(bytes.byteLength)
    yield
  }
  const { bytes: weight, mayShow, said } = measured(() => weigh(body, false, shared && weightOf(shared)))
  const list = body[WHOLE_TOOLS.name]
  if (shared !== undefined) body[WHOLE_TOOLS.name] = shared.value as Json
  else if (tools !== undefined && Array.isArray(list))
    yield* WHOLE_TOOLS.noting(tools, () => ({ value: list, cut: [] }))
  let whole = kept.size === 0 ? body : undefined
  return {
    ...inPlace(bytes, outermost),
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
    whole: () => {
      whole ??= objectIn(bodyText(bytes))
      return wholeOf(whole, () => bodyText(bytes), true)
    },
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
        const whole = yield* marks.whole(which)
        within[name] = whole
        done += whole.length
        if (done < STEP_BYTES) continue
        done = 0
        yield
      }
    }
  }
}

/** One of which all is read, as no mark can stand for anything in it. */
export const openUnmarked = (bytes: Uint8Array<ArrayBuffer>, read: Read): Steps<ClientBody> => {
  if (!read.faulty) requireReadable(bytes.byteLength - longIn(read.cut), read.containers)
  return openBytes(bytes, !read.longNumber)
}

/** A large body, read whole. Its text is decoded anew where it is needed: as a string it may take twice its bytes. */
export function* openBytes(bytes: Uint8Array<ArrayBuffer>, plain: boolean): Steps<ClientBody> {
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
