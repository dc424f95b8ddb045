// The lists of numbers in JSON, put aside while the rest is parsed: in a long answer of vectors they are nearly all of it, and to
// build them takes ten times as long as to pass over them.

import { skipValue } from './json-scan.ts'
import type { Steps } from './steps.ts'

type Span = { readonly start: number; readonly end: number }

/** So much is passed over in a step. */
const STEP_CHARS = 512 * 1024

/** Where they stand in text that is JSON, in their order. */
function* listsIn(text: string): Steps<Span[]> {
  const lists: Span[] = []
  // Others may look through texts of their own between two steps.
  const opening = /["[]/g
  /** Of nothing but numbers. What stands within others is never looked through for their end: they may be nested. */
  const list = /\[[\s,]*[\d-][\s\d.eE+,-]*\]/y
  let isOverAt = STEP_CHARS
  for (let found = opening.exec(text); found !== null; found = opening.exec(text)) {
    const { index } = found
    if (found[0] === '"') opening.lastIndex = skipValue(text, index)
    else {
      list.lastIndex = index
      if (list.test(text)) {
        const end = list.lastIndex
        lists.push({ start: index, end })
        opening.lastIndex = end
      }
    }
    if (opening.lastIndex < isOverAt) continue
    yield
    isOverAt = opening.lastIndex + STEP_CHARS
  }
  return lists
}

export type ListsAside = {
  /** With the number of each list alone in its place, from 0. */
  readonly text: string
  /** That text, changed or not, with the lists again; `written`: what stands for one. Undefined where one has gone. */
  whole(text: string, written: (list: string, which: number) => string): Steps<string | undefined>
}

/** `text` must be JSON. */
export function* putListsAside(text: string): Steps<ListsAside> {
  const lists = yield* listsIn(text)
  return {
    text: replaced(text, lists, (which) => `[${which}]`),
    *whole(short, written) {
      const places = yield* listsIn(short)
      if (places.length !== lists.length) return undefined
      const made: string[] = []
      let chars = 0
      for (const [which, { start, end }] of lists.entries()) {
        made.push(written(text.slice(start, end), which))
        chars += end - start
        if (chars < STEP_CHARS) continue
        yield
        chars = 0
      }
      return replaced(short, places, (which) => made[which] ?? '')
    },
  }
}

const replaced = (text: string, places: readonly Span[], by: (which: number) => string): string => {
  const parts: string[] = []
  let at = 0
  for (const [which, { start, end }] of places.entries()) {
    parts.push(text.slice(at, start), by(which))
    at = end
  }
  parts.push(text.slice(at))
  return parts.join('')
}
