// The provider's end of a stream: how its body begins, and its events as text for the client.

import { GatewayError } from '../errors.ts'
import { isPlainBase64 } from '../lib/base64.ts'
import { PutAside } from '../lib/json-marked.ts'
import { FrameReader, FrameTooLarge } from '../lib/sse.ts'
import type { Tap } from '../wire/codec.ts'
import { malformedAnswer, openNotes } from '../wire/pass.ts'
import { ANSWER_BOUNDS, isPicture } from './answer-bounds.ts'
import { type Hold, holdIn, type Room, STEP_BYTES } from './room.ts'
import { networkError } from './upstream.ts'

/** The provider's end of a stream. */
export type Source = {
  /**
   * Text for the client, maybe '', without what ends the answer, or bytes of what is no text; undefined once they are over.
   * Throws GatewayError, or what the tap throws.
   */
  read(): Promise<string | Uint8Array | undefined>
  /** The text that ends the answer, once the tap is `done`. */
  readonly end: string
  /** Reads to the end after the terminal event, so that the connection can be used again; cuts one that lingers. */
  drain(): Promise<void>
  /** Text as it is sent, with what was put aside of it; undefined or absent where nothing is. */
  bytesOf?(text: string): readonly Uint8Array[] | undefined
  abort: AbortController
}

/** One whose next text can be waited for without reading it. */
export type HeldSource = Omit<Source, 'read'> & {
  read(): Promise<string | undefined>
  /** Whether there is something to read, or the end, before the other is there. */
  comes(before: Promise<void>): Promise<boolean>
}

/** How long a provider may take to close a stream after its terminal event. */
const LINGER_MS = 1_000
/** The largest single event of a stream, in characters. */
const FRAME_CHARS = 64 * 1024 * 1024

/** How many bytes of a stream are read in one turn of the event loop: what has piled up may be many times as much. */
const TURN_BYTES = 64 * 1024

/** How JSON and HTML begin, which no line of a stream does. */
const WHOLE = new Set([...'{[<'].map((char) => char.charCodeAt(0)))

/** White space, and the bytes of a byte order mark. */
const SPACE = new Set([0x09, 0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf])

export type Reader<Bytes extends Uint8Array = Uint8Array> = {
  read(): Promise<{ done: false; value: Bytes } | { done: true; value?: Bytes | undefined }>
  cancel(reason?: unknown): Promise<void>
}

type Beginning = { chunk: Uint8Array | undefined; isWhole: boolean }

/**
 * A body's first chunk from its first byte that is no white space, which means nothing there, and whether it begins as a
 * whole answer does. Not by its content type: servers label their answers wrongly, or not at all.
 */
export const beginning = async (reader: Reader, abort: AbortController): Promise<Beginning> => {
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      throw networkError(error, abort)
    })
    if (done) return { chunk: undefined, isWhole: false }
    const at = value.findIndex((byte) => !SPACE.has(byte))
    if (at !== -1) return { chunk: value.subarray(at), isWhole: WHOLE.has(value[at] ?? 0) }
  }
}

/** A stream of the chunk and of what is left to read. */
export const joined = <Bytes extends Uint8Array>(
  chunk: Bytes | undefined,
  reader: Reader<Bytes>,
): ReadableStream<Bytes> =>
  new ReadableStream<Bytes>({
    start: (to) => {
      if (chunk !== undefined) to.enqueue(chunk)
    },
    pull: async (to) => {
      const next = await reader.read()
      if (next.done) to.close()
      else to.enqueue(next.value)
    },
    cancel: (reason) => reader.cancel(reason),
  })

/** A reader of the chunk and of what is left to read: a stream of both would cost each event more. */
export const rejoined = <Bytes extends Uint8Array>(chunk: Bytes | undefined, reader: Reader<Bytes>): Reader<Bytes> => {
  let left = chunk
  return {
    // Not async: that would cost each event a turn of its own.
    read: () => {
      if (left === undefined) return reader.read()
      const value = left
      left = undefined
      return Promise.resolve({ done: false, value })
    },
    cancel: (reason) => reader.cancel(reason),
  }
}

/** Of an answer that is whole already. */
export const endedSource = (abort: AbortController, end: string): Source => ({
  abort,
  end,
  drain: async () => {},
  read: async () => undefined,
})

const isThere = (): boolean => true

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * What of a long event is neither decoded nor parsed: every long string where all of it passes, and pictures where it is
 * translated.
 */
export type Unread = 'strings' | 'pictures'

type Reading = { chunk: Uint8Array | undefined; abort: AbortController; room: Room; unread?: Unread }

/**
 * `chunk`: what has been read already. An event that is long takes room until it is complete, and what is put aside of it as
 * long as that is held.
 */
export const readFrom = (reader: Reader, tap: Tap, { chunk, abort, room, unread }: Reading): HeldSource => {
  let left = chunk
  /** What is being waited for, unread. */
  let next: ReturnType<Reader['read']> | undefined
  let isRest = false
  const aside = new PutAside(unread === 'strings')
  const frames = new FrameReader(
    FRAME_CHARS,
    unread && {
      mostRead: ANSWER_BOUNDS.chars,
      takes: (beginning, string) => unread === 'strings' || (isPicture(beginning) && string.every(isPlainBase64)),
      put: (rest) => aside.put(rest),
    },
  )
  let hold: Hold | undefined
  let end = ''
  /** Nearly no stream has an event that needs room. */
  const take = (held: number): void => {
    if (hold === undefined) {
      if (held < STEP_BYTES || abort.signal.aborted) return
      hold = holdIn(room, abort)
      abort.signal.addEventListener('abort', () => hold?.end(), { once: true })
    }
    hold.bytes(held)
  }
  const taken = (): ReturnType<Reader['read']> => {
    const coming = next ?? reader.read()
    next = undefined
    return coming
  }
  return {
    abort,
    get end() {
      return end
    },
    bytesOf: (text) => {
      if (aside.isEmpty) return undefined
      const written = aside.written(text)
      if (written === undefined) throw malformedAnswer()
      return written.all
    },
    comes: (before) => {
      if (left !== undefined) return Promise.resolve(true)
      next ??= reader.read()
      // How it fails is told by who reads it.
      return Promise.race([next.then(isThere, isThere), before.then(() => false)])
    },
    drain: async () => {
      hold?.end()
      const timer = setTimeout(() => abort.abort(), LINGER_MS)
      try {
        while (!(await reader.read()).done);
      } catch {
        // Nothing that follows the terminal event is used.
      } finally {
        clearTimeout(timer)
      }
    },
    read: async () => {
      let received = false
      try {
        // What is left of a large chunk waits for another turn, so that other streams go on.
        if (isRest) await nextTurn()
        const value = left ?? (await taken()).value
        received = true
        isRest = value !== undefined && value.byteLength > TURN_BYTES
        left = isRest ? value?.subarray(TURN_BYTES) : undefined
        const bytes = isRest ? value?.subarray(0, TURN_BYTES) : value
        let text = ''
        const say = (said: string): void => {
          if (tap.state === 'done') end += said
          else text += said
        }
        for (const frame of bytes === undefined ? frames.end() : frames.push(bytes)) say(tap.see(frame))
        if (bytes === undefined) say(tap.end?.() ?? '')
        if (aside.held > ANSWER_BOUNDS.pictures)
          throw new FrameTooLarge('the events of one stream hold too much together')
        take(bytes === undefined ? 0 : Math.max(frames.held, aside.held))
        return bytes === undefined && text === '' ? undefined : text
      } catch (error) {
        hold?.end()
        if (error instanceof FrameTooLarge) {
          abort.abort()
          throw new GatewayError('upstream_error', 'The provider sent an event that is too large.', { cause: error })
        }
        if (!received) throw networkError(error, abort)
        // Its events may be nested more deeply than they can be written again; anything else is the gateway's own fault.
        throw error instanceof RangeError ? malformedAnswer(error) : error
      }
    },
  }
}

type RawTap = Tap & { over(): void }

/** Of bytes that are no text: they are over when they end, and cannot tell of a failure. */
export const rawTap = (): RawTap => {
  const noted = openNotes()
  return Object.assign(noted, {
    see: () => '',
    fail: () => '',
    over: () => {
      noted.state = 'done'
    },
  })
}

/** Bytes as they come. */
export const readBytes = (reader: Reader, tap: RawTap, abort: AbortController): Source => ({
  abort,
  end: '',
  drain: async () => {},
  read: async () => {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        throw networkError(error, abort)
      })
      if (done) {
        tap.over()
        return undefined
      }
      if (value.byteLength > 0) return value
    }
  },
})
