// A text's tokens, counted by the tokenizer in time that grows with its length.

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

const PLAIN = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

/** Longer than any word: the cost of merging a run grows with the square of its length, so long ones are cut. */
const RUN = /\S{256}|\s{256}/gu

export const tokensOf = (text: string): number => {
  let tokens = 0
  let from = 0
  for (const { 0: run, index } of text.matchAll(RUN)) {
    const end = index + run.length
    tokens += countTokens(text.slice(from, end), PLAIN)
    from = end
  }
  return tokens + countTokens(text.slice(from), PLAIN)
}
