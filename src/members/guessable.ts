// Whether a password is among the first that are tried: common ones, runs of keys, repetitions, and what is known of its
// owner. Its lists take long to load and much memory: who asks is the thread.

import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'

/** Below so many guesses, by the library's count: a list of common passwords with their usual variations. */
const FEWEST = 1e9
/** Looked at from the beginning: what follows is not needed to be hard to guess, and would take long. */
const LOOKED_AT = 40
/** Letters and digits a password needs beside the words that go without saying. */
const FEWEST_BESIDE = 6
/** A word of one or two letters is in many others. */
const SHORTEST_WORD = 3

const OURS = ['sluice', 'gateway', 'dashboard', 'admin']

const judge = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: LOOKED_AT })

/** `name`: of the member whose password it is to be. */
export const isGuessable = (password: string, name: string): boolean => {
  const text = password.normalize('NFC')
  const words = [name, ...name.split(/[^\p{L}\p{N}]+/u), ...OURS]
    .map((word) => word.toLowerCase())
    .filter(({ length }) => length >= SHORTEST_WORD)
    .sort((one, other) => other.length - one.length)
  const beside = words.reduce((left, word) => left.replaceAll(word, ''), text.toLowerCase())
  if (beside.replace(/[^\p{L}\p{N}]/gu, '').length < FEWEST_BESIDE) return true
  return judge.check(text, words).guesses < FEWEST
}
