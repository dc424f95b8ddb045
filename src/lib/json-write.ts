// Writes large JSON as UTF-8 in steps, a member, an element or a part of a long string at a time: no text of the whole is
// made, nor of anything that is nearly the whole.

import { isExactNumber } from './json-exact.ts'
import { free } from './memory.ts'
import type { Steps } from './steps.ts'

/** About so many bytes are written in one step. */
const STEP_BYTES = 1024 * 1024
/** So much text is gathered before it is written as bytes. */
const TEXT_CHARS = 8 * 1024
/** Longer text is written as it is. A longer string is, where it stands for itself, and in parts. */
const LONG_CHARS = 64
const PART_CHARS = 128 * 1024
/** What lies deeper is written at once: by then it is a block of a message or a member of a schema. */
const DEPTH = 7
/** What comes to less is, too: leaf by leaf, each would leave a kilobyte behind. */
const SMALL_CHARS = 1024

/** An object in bytes, of which `textOf` gives what stands in it. `bytes`: about how many they will be. */
export function* writeJson(
  object: object,
  textOf: (value: unknown) => string,
  bytes: number,
): Steps<Uint8Array<ArrayBuffer>> {
  const out = new Bytes(bytes)
  const open: Open[] = []
  let value: unknown = object
  for (;;) {
    if (open.length < DEPTH && isContainer(value) && leftOf(SMALL_CHARS, value) < 0) open.push(opened(value, out))
    else if (typeof value !== 'string' || value.length <= LONG_CHARS)
      out.write(value === undefined ? 'null' : textOf(value))
    else {
      out.write('"')
      for (let at = 0; at < value.length; ) {
        const part = partFrom(value, at)
        at += part.length
        out.write(standsForItself(part) ? part : textOf(part).slice(1, -1))
        if (out.isStepOver()) yield
      }
      out.write('"')
    }
    if (out.isStepOver()) yield
    let inner = open.at(-1)
    while (inner !== undefined && !hasNext(inner)) {
      out.write(inner.names === undefined ? ']' : '}')
      open.pop()
      inner = open.at(-1)
    }
    if (inner === undefined) return out.all()
    value = nextOf(inner, out)
  }
}

/** A list or an object that is being written: what of it is next. */
type Open = { values: readonly unknown[]; names: readonly string[] | undefined; next: number; isEmpty: boolean }

const isContainer = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !isExactNumber(value)

/** How much of so many characters is left behind a value, about; less than none where it has more. */
const leftOf = (chars: number, value: unknown): number => {
  if (typeof value === 'string') return chars - value.length
  let left = chars - LEAF_CHARS
  if (typeof value !== 'object' || value === null) return left
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at++) left = leftOf(left, value[at])
    return left
  }
  const members = value as { readonly [name: string]: unknown }
  for (const name in members) {
    left = leftOf(left - name.length, members[name])
    if (left < 0) break
  }
  return left
}
const LEAF_CHARS = 4

const opened = (value: object, out: Bytes): Open => {
  const isList = Array.isArray(value)
  out.write(isList ? '[' : '{')
  return isList
    ? { values: value, names: undefined, next: 0, isEmpty: true }
    : { values: Object.values(value), names: Object.keys(value), next: 0, isEmpty: true }
}

/** Moves on to what is written: an object has no member that is undefined. */
const hasNext = (inner: Open): boolean => {
  const { values, names } = inner
  while (names !== undefined && inner.next < values.length && values[inner.next] === undefined) inner.next++
  return inner.next < values.length
}

const nextOf = (inner: Open, out: Bytes): unknown => {
  if (!inner.isEmpty) out.write(',')
  inner.isEmpty = false
  const { values, names, next } = inner
  inner.next++
  if (names !== undefined) out.write(`${JSON.stringify(names[next])}:`)
  return values[next]
}

const partFrom = (text: string, at: number): string => {
  const end = at + PART_CHARS
  // A pair of surrogates is one character.
  const code = text.charCodeAt(end - 1)
  return text.slice(at, code >= 0xd800 && code < 0xdc00 ? end - 1 : end)
}

/** Whether JSON writes it as it stands: nothing of it is escaped, or half a pair of surrogates. */
const standsForItself = (text: string): boolean => PLAIN.test(text)

const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/

/** Memory that grows where it must. */
class Bytes {
  #out: Buffer<ArrayBuffer>
  #at = 0
  #text = ''
  #stepEnd = STEP_BYTES

  constructor(bytes: number) {
    this.#out = Buffer.allocUnsafeSlow(Math.ceil(bytes))
  }

  write(text: string): void {
    if (text.length < LONG_CHARS) {
      this.#text += text
      if (this.#text.length < TEXT_CHARS) return
    }
    this.#flush()
    if (text.length >= LONG_CHARS) this.#encode(text)
  }

  isStepOver(): boolean {
    if (this.#at < this.#stepEnd) return false
    this.#stepEnd = this.#at + STEP_BYTES
    return true
  }

  all(): Uint8Array<ArrayBuffer> {
    this.#flush()
    return this.#out.subarray(0, this.#at)
  }

  #flush(): void {
    const text = this.#text
    this.#text = ''
    this.#encode(text)
  }

  #encode(text: string): void {
    // A character has three bytes at most, and most have one.
    if (this.#out.length - this.#at < 3 * text.length) this.#grow(Buffer.byteLength(text))
    this.#at += this.#out.write(text, this.#at)
  }

  #grow(bytes: number): void {
    if (this.#out.length - this.#at >= bytes) return
    const larger = Buffer.allocUnsafeSlow(Math.ceil((this.#at + bytes) * 1.25))
    this.#out.copy(larger, 0, 0, this.#at)
    free(this.#out)
    this.#out = larger
  }
}
