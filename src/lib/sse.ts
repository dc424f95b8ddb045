// Server-sent events: an incremental reader, whose frames do not depend on how the bytes are chunked, and a writer.

import { type Aside, LONG_LINE_CHARS, LongLine, wholeCharacters } from './long-line.ts'

/** One dispatched event. `data` holds the data lines joined by "\n"; a frame without data is never made. */
export type Frame = { event?: string; data: string }

const CR = 13
const LF = 10
const COLON = 58
const BRACE = 123
/** A sign of life: nothing, JSON's words for it, or what was a comment. */
const NO_DATA = /^\s*(?::|$|(?:null|\[\s*\])\s*$)/
/** A shorter chunk may hold no character whole. */
const LEAST_BYTES = 4

/** What every further line of data counts for in addition to its characters, as it takes memory, too. */
const LINE_CHARS = 40

/** Thrown when one event exceeds the reader's bound. */
export class FrameTooLarge extends Error {}

/**
 * Reads frames out of chunks of bytes. LF, CRLF and bare CR end a line, in any mix and across chunks; comments, `id`
 * and `retry` are dropped, also comments that a relay has passed on as data; a leading byte order mark is stripped. Memory is bounded by `maxChars` per event, where
 * a further line counts for more than its characters.
 */
export class FrameReader {
  #decoder = new TextDecoder()
  #rest = ''
  #scanned = 0
  #event: string | undefined
  #data: string | undefined
  #size = 0
  /** The bytes of this event that were put aside with lines before. */
  #put = 0
  /** The line that is read now, where it is long. */
  #long: LongLine | undefined
  readonly #maxChars: number
  readonly #aside: Aside | undefined

  /** `aside`: where long strings of JSON are put. */
  constructor(maxChars = 64 * 1024 * 1024, aside?: Aside) {
    this.#maxChars = maxChars
    this.#aside = aside
  }

  /** The characters held of an event that is not complete, and the bytes of what was put aside. */
  get held(): number {
    return this.#chars + this.#put + (this.#long === undefined ? 0 : this.#long.put + this.#long.open)
  }

  /** Those that are read. */
  get #chars(): number {
    return this.#size + this.#rest.length + (this.#long?.read ?? 0)
  }

  /** The frames completed by these bytes, in order. */
  push(chunk: Uint8Array): Frame[] {
    if (this.#long !== undefined) return this.#readLong(this.#long, chunk)
    const frames = this.#read(this.#decoder.decode(chunk, { stream: true }), false)
    if (this.#rest.length >= LONG_LINE_CHARS) this.#beginLong(chunk)
    return frames
  }

  /** The last frame of a stream that ended without its blank line, if there is one. */
  end(): Frame[] {
    this.#endLong()
    const frames = this.#read(this.#decoder.decode(), true)
    const last = this.#dispatch()
    return last ? [...frames, last] : frames
  }

  /** `chunk`: the last that was decoded, which may end within a character or a line's end. */
  #beginLong(chunk: Uint8Array): void {
    if (this.#aside === undefined || this.#scanned < this.#rest.length || chunk.byteLength < LEAST_BYTES) return
    const long = new LongLine(this.#aside)
    long.push(Buffer.from(this.#rest))
    long.push(chunk.subarray(wholeCharacters(chunk)))
    this.#decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    this.#long = long
    this.#rest = ''
    this.#scanned = 0
  }

  #readLong(long: LongLine, chunk: Uint8Array): Frame[] {
    const end = long.push(chunk)
    this.#bound()
    if (end === -1) return []
    this.#endLong()
    return this.push(chunk.subarray(end))
  }

  #endLong(): void {
    if (this.#long === undefined) return
    this.#put += this.#long.put
    this.#rest = this.#long.text
    this.#scanned = this.#rest.length
    this.#long = undefined
  }

  #read(text: string, final: boolean): Frame[] {
    const frames: Frame[] = []
    // Only the new part of a long line is scanned: joining it at each chunk would take quadratic time.
    if (!final && this.#scanned === this.#rest.length && !text.includes('\n') && !text.includes('\r')) {
      this.#rest += text
      this.#scanned = this.#rest.length
      this.#bound()
      return frames
    }
    const all = this.#rest === '' ? text : this.#rest + text
    let start = 0
    let scan = this.#scanned
    // The next CR is looked up once per chunk, not once per line: vendors never send one.
    let nextCr = all.indexOf('\r', scan)
    let nextLf = all.indexOf('\n', scan)
    while (nextCr !== -1 || nextLf !== -1) {
      let end: number
      let next: number
      if (nextCr === -1 || (nextLf !== -1 && nextLf < nextCr)) {
        end = nextLf
        next = nextLf + 1
      } else {
        end = nextCr
        // A CR at the end of a chunk may be half of a CRLF: it waits for the next character.
        if (nextCr === all.length - 1 && !final) break
        next = all.charCodeAt(nextCr + 1) === LF ? nextCr + 2 : nextCr + 1
      }
      const frame = this.#line(all, start, end)
      if (frame) frames.push(frame)
      start = next
      scan = next
      if (nextLf !== -1 && nextLf < next) nextLf = all.indexOf('\n', next)
      if (nextCr !== -1 && nextCr < next) nextCr = all.indexOf('\r', next)
    }
    this.#rest = start === 0 ? all : all.slice(start)
    if (final && this.#rest !== '') {
      const frame = this.#line(this.#rest, 0, this.#rest.length)
      if (frame) frames.push(frame)
      this.#rest = ''
    }
    const tail = this.#rest.length
    this.#scanned = tail > 0 && this.#rest.charCodeAt(tail - 1) === CR ? tail - 1 : tail
    this.#bound()
    return frames
  }

  #bound(): void {
    const mostRead = this.#aside?.mostRead ?? this.#maxChars
    if (this.held > this.#maxChars) throw new FrameTooLarge(`one event is larger than ${this.#maxChars} characters`)
    if (this.#chars > mostRead) throw new FrameTooLarge(`more than ${mostRead} characters of one event would be read`)
  }

  #line(text: string, start: number, end: number): Frame | undefined {
    if (start === end) return this.#dispatch()
    if (text.startsWith('data:', start)) {
      this.#add(fieldValue(text, start + 4, end))
      return undefined
    }
    // The colon is expected behind a known name: looked for, it could be many lines further on. A name alone has an empty
    // value.
    if (text.startsWith('event', start)) {
      const nameEnd = start + 'event'.length
      if (nameEnd === end || text.charCodeAt(nameEnd) === COLON) this.#event = fieldValue(text, nameEnd, end)
    } else if (text.startsWith('data', start) && start + 'data'.length === end) this.#add('')
    return undefined
  }

  #add(value: string): void {
    if (this.#data !== undefined) this.#size += LINE_CHARS
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    this.#size += value.length
  }

  #dispatch(): Frame | undefined {
    const event = this.#event
    const data = this.#data
    this.#event = undefined
    this.#data = undefined
    this.#size = 0
    this.#put = 0
    if (data === undefined || (data.charCodeAt(0) !== BRACE && NO_DATA.test(data))) return undefined
    return event === undefined || event === '' ? { data } : { event, data }
  }
}

const fieldValue = (text: string, colon: number, end: number): string => {
  if (colon === end) return ''
  const from = text.charCodeAt(colon + 1) === 32 && colon + 1 < end ? colon + 2 : colon + 1
  return text.slice(from, end)
}

/** All frames of a stream that is there as text. */
export const framesIn = (text: string): Frame[] => {
  const reader = new FrameReader()
  return [...reader.push(Buffer.from(text)), ...reader.end()]
}

/** One frame as text, its blank line included. `data` must not be empty. */
export const writeFrame = ({ event, data }: Frame): string => {
  const lines = data.includes('\n') ? data.split('\n').join('\ndata: ') : data
  return event === undefined ? `data: ${lines}\n\n` : `event: ${event}\ndata: ${lines}\n\n`
}
