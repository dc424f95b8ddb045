// How an answer ended, in whatever words a server has for it.

import { expect, test } from 'bun:test'
import { isCut, isFailure, isFiltered } from '../../../src/wire/turns/ending.ts'

test.each(['length', 'max_tokens', 'context_window_exceeded', 'token_limit_reached', 'truncated'])(
  'an answer that ended by %s was cut',
  (word) => {
    expect([isCut(word), isCut({ type: word }), isFiltered(word), isFailure(word)]).toEqual([true, true, false, false])
  },
)

test('a word of any length is read in linear time', () => {
  const word = `${'a_length_'.repeat(300_000)}!`
  expect([isCut(word), isFiltered(word), isFailure(word)]).toEqual([false, false, false])
})
