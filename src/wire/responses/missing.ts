// What is missing in what was streamed of a text, once its provider has written the whole of it.

import { behindThought } from '../../ir/tagged-thoughts.ts'

/** The rest of a whole text after what was streamed of it; '' where the two disagree. */
export const unstreamed = (whole: string, streamed: string): string =>
  whole.startsWith(streamed) ? whole.slice(streamed.length) : ''

/**
 * Whether pieces of the whole are missing in what was streamed of it, between others; `lengths`: of the pieces. Servers that write
 * a text anew at its end change more than that, the white space around it, or put a thought before it that they have told apart.
 */
export const lacksText = (
  { text, lengths }: { text: string; lengths: readonly number[] },
  written: string,
): boolean => {
  if (written.startsWith(text)) return false
  const whole = behindThought(written).trim()
  if (text.trim().length >= whole.length) return false
  const [first, last] = [text.length - text.trimStart().length, text.trimEnd().length]
  let begun = 0
  let at = 0
  return lengths.every((length) => {
    const told = text.slice(Math.max(begun, first), Math.min(begun + length, last))
    begun += length
    const found = whole.indexOf(told, at)
    at = found + told.length
    return found !== -1
  })
}

/**
 * Whether letters of the whole are missing in what was streamed of it. Servers that write arguments anew at their end change
 * others.
 */
export const lacksLetters = (streamed: string, whole: string): boolean => {
  if (whole.startsWith(streamed)) return false
  const [had, all] = [streamed.replace(/\s+/g, ''), whole.replace(/\s+/g, '')]
  if (had.length >= all.length) return false
  let at = 0
  for (let next = 0; next < all.length && at < had.length; next++) if (all[next] === had[at]) at++
  return at === had.length
}
