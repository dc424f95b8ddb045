// Which member a refusal is about that names none: a request of a wire that only passes has few, and one thing that it is about.

import type { JsonObject } from '../../ir/json.ts'
import { isClients } from './quoted.ts'

/** What servers call what a member holds. Of several, what each is called in a request comes before the words for it. */
const CALLED = new Map([
  ['file', /\b(?:audio|sound|recording|media|speech)\b/i],
  ['image', /\b(?:images?|pictures?|photos?)\b/i],
  ['input', /\b(?:texts?|inputs?|batch(?:es)?|sequences?|characters|tokens)\b/i],
])

/** As short as a value that is chosen from a list. */
const MOST_VALUE = 64
const LEAST_VALUE = 2

/**
 * The member whose value the refusal quotes, else the first that it speaks of, by its name as words, else the one that holds what
 * it speaks of. The model is none. `sent`: the body, of a form its members.
 */
export const memberMeant = (sent: JsonObject, text: string): string | undefined => {
  const members = Object.keys(sent).filter((name) => name !== 'model' && sent[name] !== null)
  const quoted = members.find((name) => {
    const value = sent[name]
    return isValue(value) && ["'", '"', '`'].some((quote) => text.includes(`${quote}${value}${quote}`))
  })
  return quoted ?? firstIn(sent, text, members, wordsFor) ?? firstIn(sent, text, members, (name) => CALLED.get(name))
}

const isValue = (value: unknown): value is string =>
  typeof value === 'string' && value.length >= LEAST_VALUE && value.length <= MOST_VALUE

/** `image[]` and `response_format` as they stand in a sentence. */
const wordsFor = (name: string): RegExp =>
  new RegExp(
    `(?<![\\w.-])${plainOf(name).replaceAll(/\W/g, '\\$&').replaceAll('_', '[_ -]')}(?:s|\\(s\\))?(?![\\w.-]\\w)`,
    'i',
  )

const plainOf = (name: string): string => name.replace(/\[\d*\]$/, '')

const firstIn = (
  sent: JsonObject,
  text: string,
  members: readonly string[],
  patternOf: (name: string) => RegExp | undefined,
): string | undefined => {
  const found = members.flatMap((name) => {
    const match = patternOf(plainOf(name))?.exec(text)
    if (!match || isClients(sent, text, { at: match.index, length: match[0].length })) return []
    return [{ name, at: match.index }]
  })
  return found.sort((a, b) => a.at - b.at)[0]?.name
}
