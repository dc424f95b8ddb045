// An answer as bytes over time: its pieces one by one at a pace, with the faults a directive asks for.

import { type Directive, type DirectiveName, failureOf, numberOf } from './directive.ts'
import type { Failure, VendorError } from './vendor.ts'

type Pace = { delayMs: number; signal: AbortSignal }

/** What is played: frames of a stream, or a JSON body in two halves, so that the same faults fit both. */
type Tape = {
  pieces: string[]
  broken?: (error: VendorError, sent: number) => string
  failure: (name: Failure) => VendorError
}

const FAULTS: DirectiveName[] = ['cut', 'eof', 'stall', 'malformed', 'stream-error']

/** How the tape ends: `close` properly, `cut` the socket, or `stall` until the other side goes away. */
type Reel = { pieces: string[]; end: 'close' | 'cut' | 'stall' }

const reelOf = (tape: Tape, directives: Directive[]): Reel => {
  const fault = directives.find((directive) => FAULTS.includes(directive.name))
  if (fault === undefined) return { pieces: tape.pieces, end: 'close' }
  const half = Math.max(1, Math.floor(tape.pieces.length / 2))
  const at = Math.min(fault.name === 'stream-error' ? half : numberOf(fault, half), tape.pieces.length - 1)
  const before = tape.pieces.slice(0, at)
  switch (fault.name) {
    case 'cut':
      return { pieces: before, end: 'cut' }
    case 'stall':
      return { pieces: before, end: 'stall' }
    case 'malformed':
      return { pieces: [...before, torn(tape.pieces[at] ?? ''), ...tape.pieces.slice(at + 1)], end: 'close' }
    case 'stream-error': {
      const error = tape.failure(failureOf(fault.argument, 'overloaded'))
      return { pieces: tape.broken ? [...before, tape.broken(error, at)] : before, end: 'close' }
    }
    default:
      return { pieces: before, end: 'close' }
  }
}

/** A frame whose JSON breaks off in the middle. */
const torn = (piece: string): string => {
  const start = piece.indexOf('data: ') + 'data: '.length
  return `${piece.slice(0, start + Math.ceil((piece.length - start) / 2))}\n\n`
}

/** Resolves after `ms`, or at once when the signal fires. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = Number.isFinite(ms) ? setTimeout(done, ms) : undefined
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })

/** The body of the answer. `left` is called when the other side goes away before the end. */
export const playBack = (
  tape: Tape,
  directives: Directive[],
  pace: Pace,
  left: () => void,
): ReadableStream<Uint8Array> => {
  const { pieces, end } = reelOf(tape, directives)
  const utf8 = new TextEncoder()
  const gone = new AbortController()
  const signal = AbortSignal.any([pace.signal, gone.signal])
  const setPace = directives.find((directive) => directive.name === 'pace')
  const delayMs = setPace ? numberOf(setPace, 100) : pace.delayMs
  let at = 0
  return new ReadableStream<Uint8Array>(
    {
      pull: async (out) => {
        const piece = pieces[at]
        if (piece !== undefined) {
          if (delayMs > 0 && at > 0) await pause(delayMs, signal)
          at++
          return out.enqueue(utf8.encode(piece))
        }
        if (end === 'stall') await pause(Number.POSITIVE_INFINITY, signal)
        // An error without a reason: the server drops the connection and has nothing to print.
        if (end !== 'close') return out.error()
        out.close()
      },
      cancel: () => {
        gone.abort()
        left()
      },
    },
    { highWaterMark: 0 },
  )
}
