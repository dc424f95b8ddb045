// How an answer ended, in words beyond its wire's own: servers use those of other wires, of their engines and of relays.

import { asText, isObject, type Json } from '../../ir/json.ts'

/** A reason as a word: some servers send the object that their engine has for it. */
export const wordOf = (reason: Json | undefined): string => asText(isObject(reason) ? reason.type : reason)

/** By what was full, or that something is missing. Some servers cut a model off that repeats itself. */
const CUT =
  /^(?:(?:\w+_)?(?:length|window)(?:_\w+)?|max_(?:\w+_)?tokens|(?:\w+_)?tokens?_limit(?:_\w+)?|truncat\w+|incomplete|repetition(?:_truncation)?)$/i
/** The category may follow. */
const FILTERED =
  /^(?:content_filter|sensitive|guardrail|(?:image_)?(?:safety|recitation|prohibited_content)|blocklist|spii|error_toxic)/i
/** Of answers that failed at the server. Relays put `stop` in their place, and these beside it. */
const FAILED =
  /(?:^|_)(?:error|fail(?:ed|ure)?|abort(?:ed)?|cancel(?:l?ed)?|time_?out|interrupted|overloaded|unavailable)$|^insufficient_system_resource$|(?:malformed|unexpected)_(?:function|tool)_call/i

/** What is longer is no such word, and would be looked through for a time that grows by its square. */
const MOST_CHARS = 200

export const isCut = (reason: Json | undefined): boolean => {
  const word = wordOf(reason)
  return word.length <= MOST_CHARS && CUT.test(word)
}
export const isFiltered = (reason: Json | undefined): boolean => FILTERED.test(wordOf(reason))
export const isFailure = (reason: Json | undefined): boolean => FAILED.test(wordOf(reason))
