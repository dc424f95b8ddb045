// The frames of a stream as text, each with the number that follows the last.

import type { JsonObject } from '../../ir/json.ts'

/** A delta that is written again and again, with all but its text and number made once. */
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
