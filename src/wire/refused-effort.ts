// Recognises a refused reasoning effort by the error's parameter and message, and reads the efforts that the model takes.

import type { Json } from '../ir/json.ts'
import type { Effort } from '../ir/request.ts'
import { EFFORTS } from './effort.ts'

/** The efforts that the model takes, `[]` where it takes none; undefined for an error about something else. */
export const effortsTaken = (message: string, param?: Json): Effort[] | undefined => {
  const named = typeof param === 'string' ? param : ''
  if (named !== '' && !THINKING.test(named)) return undefined
  for (const line of message.split('\n')) {
    if (!EFFORT.test(named) && !EFFORT.test(line)) continue
    const listed = LISTED.exec(line)?.[1] ?? ''
    const taken = EFFORTS.filter((effort) => new RegExp(`\\b${effort}\\b`).test(listed))
    if (taken.length > 0) return taken
    if (UNKNOWN.test(line)) return []
  }
  return undefined
}

const EFFORT = /effort/i
const THINKING = /effort|reasoning|thinking/i

/** The values in a row, quoted in any way: what follows them may be the one that was refused. */
const LISTED = new RegExp(
  `(?:supported (?:values|levels|efforts)(?: are)?:?|should be|expected one of|must be one of:?|allowed values(?: are)?:?)((?:[\\s,[(]|\\bor\\b|\\band\\b|["'\`]?\\b(?:auto|default|${EFFORTS.join('|')})\\b["'\`]?)+)`,
  'i',
)

const UNKNOWN =
  /unsupported parameter|unrecogni[sz]ed|unknown (?:parameter|argument|name|field)|extra inputs|not support/i
