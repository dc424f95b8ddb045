// A vast answer, whole, with marks for what need not be read: all its long strings where it passes, its pictures where it
// is translated.

import { isUtf8 } from 'node:buffer'
import { type JsonObject, parseObject } from '../ir/json.ts'
import { asBuffer } from '../lib/as-buffer.ts'
import { isPlainBase64 } from '../lib/base64.ts'
import { type Marked, markLong } from '../lib/json-marked.ts'
import type { Steps } from '../lib/steps.ts'
import { isPicture, requireReadableAnswer } from './answer-bounds.ts'
import type { Received } from './answer-text.ts'
import { unmarking } from './marked-body.ts'

type MarkedAnswer = { readonly body: JsonObject; readonly text: string } & Pick<Marked, 'written'>

/** The first byte of a byte order mark. */
const BOM = 0xef

/** Undefined where all of it must be read. Throws `upstream_error` for one that is too long to be translated. */
export function* markedAnswer({ bytes, read }: Received, isTranslated: boolean): Steps<MarkedAnswer | undefined> {
  if (read === undefined || read.faulty || read.longNumber || bytes[0] === BOM || !isUtf8(bytes)) return undefined
  const marks = markLong(bytes, read.cut)
  if (marks === undefined) {
    if (isTranslated) requireReadableAnswer(bytes.byteLength)
    return undefined
  }
  yield
  const pictures = isTranslated ? picturesIn(asBuffer(bytes), marks) : undefined
  const text = marks.text()
  const body = parseObject(text, true)
  yield
  if (body === undefined) return undefined
  if (pictures !== undefined) yield* unmarking(body, marks, pictures)
  return { body, text, written: marks.written }
}

/** Which marks are of pictures. */
const picturesIn = (bytes: Buffer<ArrayBuffer>, marks: Marked): Set<number> => {
  const pictures = new Set<number>()
  let size = marks.size
  for (let which = 0; which < marks.count; which++) {
    const { start, kept, end, hidden } = marks.placeOf(which)
    if (isPicture(bytes.toString('latin1', start, kept)) && isPlainBase64(bytes.subarray(kept, end)))
      pictures.add(which)
    else size += hidden
  }
  requireReadableAnswer(size)
  return pictures
}
