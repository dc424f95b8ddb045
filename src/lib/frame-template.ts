// Recognises frames of a stream that differ from an earlier one only in one string, as text deltas do, so that they need not
// be parsed.

import { findPath } from './json-scan.ts'
import type { Frame } from './sse.ts'

/** The path of the string in a frame's data; 0 is an array's first element. */
type Path = readonly (string | 0)[]

/** After so many frames learnt without a match, the stream's frames are taken to differ in more than a string. */
const MAX_UNUSED = 4

// biome-ignore lint/suspicious/noControlCharactersInRegex: what must be escaped in JSON
const PLAIN = /^[^"\\\u0000-\u001f]*$/

/** One frame as a template: the text before and after the string, in the frame and in the output made from it. */
export class FrameTemplate {
  #unused = 0
  #event: string | undefined
  #head: string | undefined
  #tail = ''
  #outHead = ''
  #outTail = ''

  /** The output for this frame, and its string; undefined for a frame that must be parsed. */
  match({ event, data }: Frame): { out: string; text: string } | undefined {
    const head = this.#head
    if (head === undefined || event !== this.#event || data.length < head.length + this.#tail.length) return undefined
    if (!data.startsWith(head) || !data.endsWith(this.#tail)) return undefined
    const inner = data.slice(head.length, data.length - this.#tail.length)
    const text = PLAIN.test(inner) ? inner : unescaped(inner)
    if (text === undefined) return undefined
    this.#unused = 0
    return { out: this.#outHead + inner + this.#outTail, text }
  }

  /** Takes a frame and the output that was made from it, which contains the same string. */
  learn({ event, data }: Frame, path: Path, out: string): void {
    if (this.#unused >= MAX_UNUSED) return
    this.#unused++
    const found = findPath(data, path)
    if (found === undefined || data[found.start] !== '"') return
    const string = data.slice(found.start, found.end)
    const tail = data.slice(found.end - 1)
    // The string is located in the output by its text: unless that occurs exactly once, nothing is learnt.
    const at = out.indexOf(string)
    if (at === -1 || out.indexOf(string, at + 1) !== -1) return
    this.#event = event
    this.#head = data.slice(0, found.start + 1)
    this.#tail = tail
    this.#outHead = out.slice(0, at + 1)
    this.#outTail = out.slice(at + string.length - 1)
  }
}

/** Decodes the inside of a JSON string; undefined for text that is not the inside of one string. */
const unescaped = (inner: string): string | undefined => {
  try {
    return JSON.parse(`"${inner}"`) as string
  } catch {
    return undefined
  }
}
