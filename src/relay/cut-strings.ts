// The long strings of a large body, of which an outline holds the beginnings: what they weigh, by their bytes.

import { asBuffer } from '../lib/as-buffer.ts'
import { ESCAPED_BYTES } from '../lib/json-codes.ts'
import type { Outline } from '../lib/json-outline.ts'
import type { Shared } from '../lib/json-shared.ts'
import { atOnce, isStepOver, type Steps } from '../lib/steps.ts'
import { countText, FILE_BYTES, mayBeFile, type Weight, weigh } from './estimate.ts'

/** What a shared member weighs, its cut strings included: found once. */
export const weightOf = (shared: Shared): Weight => {
  const known = WEIGHTS.get(shared)
  if (known !== undefined) return known
  const weight = weigh(shared.value)
  weight.bytes += weighCut(asBuffer(shared.bytes), shared.cut)
  WEIGHTS.set(shared, weight)
  return weight
}
const WEIGHTS = new WeakMap<Shared, Weight>()

/** What the parts of strings that an outline has cut weigh. */
const weighCut = (bytes: Buffer, cut: Outline['cut']): number => atOnce(weighing(bytes, cut))

export function* weighing(bytes: Buffer, cut: Outline['cut']): Steps<number> {
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
export const weightAt = (bytes: Buffer, start: number, length: number): number =>
  length < FILE_BYTES || !mayBeFile(bytes, start)
    ? length
    : countText(bytes.toString('latin1', start, start + FILE_BYTES), length, () => nameBefore(bytes, start))

/** How long the parts are that an outline has cut, of strings in such members; characters that are escaped by number a byte each. */
export const bytesCut = (bytes: Buffer, cut: Outline['cut'], counts: (name: string) => boolean): number => {
  let sum = 0
  for (let one = 0; one < cut.length; one += 3) {
    if (!counts(nameBefore(bytes, cut[one] as number))) continue
    const [from, to] = [cut[one + 1] as number, cut[one + 2] as number]
    sum += to - from - spared(bytes, from, to)
  }
  return sum
}

/** What escapes by number take in a part of a JSON string beyond a byte each. */
export const spared = (bytes: Buffer, from: number, to: number): number => {
  const part = bytes.subarray(from, to)
  let sum = 0
  for (let at = part.indexOf(BY_NUMBER); at !== -1; at = part.indexOf(BY_NUMBER, at + ESCAPED_BYTES))
    sum += ESCAPED_BYTES - 1
  return sum
}
const BY_NUMBER = '\\u'

/** The name of the member whose string begins there, as it is written; '' for one in a list. */
export const nameBefore = (bytes: Buffer, start: number): string =>
  NAME.exec(bytes.toString('latin1', Math.max(0, start - 64), start))?.[1] ?? ''
const NAME = /[^\\]"([^"\\]*)" *: *"$/
