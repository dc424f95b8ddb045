// The tokenizer, in a thread: its tables take long to load and much memory, and streams must not wait for it.

import { createThread } from '../lib/thread.ts'

/** A thread that does not answer within this time is not waited for: settlements must not be delayed. */
const ANSWER_MS = 3_000
/** What is assumed where the tokenizer cannot run. */
const CHARS_PER_TOKEN = 4

const thread = createThread<string, number>('relay/tokenizer-thread.ts')
/** Still loading after a timeout. It is left to load: restarted, it might never finish on a busy machine. */
let slow = false
/** Runs while texts wait, anew with each answer. */
let timeout: Timer | undefined
/** Each ends the waiting for one text, with a guess. */
const waiting = new Set<() => void>()

/** Tokens of a text by the tokenizer; by its length when the tokenizer cannot run, or not yet. */
export const tokenize = (text: string): Promise<number> =>
  new Promise((resolve) => {
    const guess = (): void => resolve(Math.ceil(text.length / CHARS_PER_TOKEN))
    if (slow) {
      guess()
      return
    }
    waiting.add(guess)
    timeout ??= setTimeout(giveUp, ANSWER_MS)
    const ended = (): void => {
      slow = false
      waiting.delete(guess)
      clearTimeout(timeout)
      timeout = waiting.size > 0 ? setTimeout(giveUp, ANSWER_MS) : undefined
    }
    thread.ask(text).then(resolve, guess).finally(ended)
  })

const giveUp = (): void => {
  timeout = undefined
  if (thread.ready()) {
    thread.stop()
    return
  }
  slow = true
  for (const guess of waiting) guess()
  waiting.clear()
}
