// Frames of a stream that are like one seen before but for one string, as the deltas of a text are: recognised, they need
// not be parsed.

import { findPath } from './json-scan.ts'
import type { Frame } from './sse.ts'

/** Where the string stands in a frame's data; 0 is an array's first element. */
type Path = readonly (string | 0)[]

/** After so many lessons of which none was of use, frames are taken to differ in more than a string. */
const LESSONS = 4

// biome-ignore lint/suspicious/noControlCharactersInRegex: what must be escaped in JSON
const PLAIN = /^[^"\\\u0000-\u001f]*$/

/** One frame as a pattern: what stands before and after the string, and what it was made into. */
export class Likeness {
  #lessons = 0
  #event: string | undefined
  #head: string | undefined
  #tail = ''
  #outHead = ''
  #outTail = ''

  /** The text this frame was made into, and its string; undefined for a frame that must be read. */
  match({ event, data }: Frame): { out: string; text: string } | undefined {
    const head = this.#head
    if (head === undefined || event !== this.#event || data.length < head.length + this.#tail.length) return undefined
    if (!data.startsWith(head) || !data.endsWith(this.#tail)) return undefined
    const inner = data.slice(head.length, data.length - this.#tail.length)
    const text = PLAIN.test(inner) ? inner : unescaped(inner)
    if (text === undefined) return undefined
    this.#lessons = 0
    return { out: this.#outHead + inner + this.#outTail, text }
  }

  /** A frame, and the text it was made into, in which the string is the same. */
  learn({ event, data }: Frame, path: Path, out: string): void {
    if (this.#lessons >= LESSONS) return
    this.#lessons++
    const found = findPath(data, path)
    if (found === undefined || data[found.start] !== '"') return
    const string = data.slice(found.start, found.end)
    const tail = data.slice(found.end - 1)
    // The string is found in what was made by what is around it; where that is not certain, nothing is learnt.
    const at = out.indexOf(string)
    if (at === -1 || out.indexOf(string, at + 1) !== -1) return
    this.#event = event
    this.#head = data.slice(0, found.start + 1)
    this.#tail = tail
    this.#outHead = out.slice(0, at + 1)
    this.#outTail = out.slice(at + string.length - 1)
  }
}

/** The string that stands so in JSON; undefined for what is not the inside of one string. */
const unescaped = (inner: string): string | undefined => {
  try {
    return JSON.parse(`"${inner}"`) as string
  } catch {
    return undefined
  }
}
