// Writes the frames of a stream, numbered in sequence.

import type { JsonObject } from '../../ir/json.ts'

/** A delta frame whose constant parts are serialised once: all but its text and number. */
export type Delta = { head: string; tail: string }

export type Frames = ReturnType<typeof numberedFrames>

export const numberedFrames = () => {
  let number = 0

  const frame = (type: string, members: JsonObject): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...members, sequence_number: number++ })}\n\n`

  const delta = (type: string, members: JsonObject, rest = ''): Delta => {
    const open = JSON.stringify({ type, ...members })
    return { head: `event: ${type}\ndata: ${open.slice(0, -1)},"delta":`, tail: `${rest},"sequence_number":` }
  }
  const writeDelta = ({ head, tail }: Delta, text: string): string =>
    `${head}${JSON.stringify(text)}${tail}${number++}}\n\n`

  return { frame, delta, writeDelta, next: () => number }
}

/** For an answer of which only the whole is wanted. */
export const NO_FRAMES: Frames = {
  frame: () => '',
  delta: () => ({ head: '', tail: '' }),
  writeDelta: () => '',
  next: () => 0,
}
