// The tokenizer, in a worker thread: its tables take long to load and much memory, and streams must not wait for it.

import { canOpen, FOR_A_THREAD } from '../lib/descriptors.ts'
import type { Counted, ToCount } from './tokenizer-thread.ts'

/** The thread is ended after this long without work, to free its memory. */
const IDLE_MS = 60_000
/** A thread that does not answer within this time is not waited for: settlements must not be delayed. */
const ANSWER_MS = 3_000
/** What is assumed where the tokenizer cannot run. */
const CHARS_PER_TOKEN = 4

// In the compiled binary all modules have the path of the entry point.
const THREAD = import.meta.file === 'tokenizer.ts' ? './tokenizer-thread.ts' : './relay/tokenizer-thread.ts'

let thread: Worker | undefined
/** `slow`: still loading after a timeout. It is left to load: restarted, it might never finish on a busy machine. */
let state: 'loading' | 'slow' | 'ready' = 'loading'
let idle: ReturnType<typeof setTimeout> | undefined
let timeout: ReturnType<typeof setTimeout> | undefined
let last = 0
const waiting = new Map<number, { chars: number; resolve: (tokens: number) => void }>()

/** Tokens of a text by the tokenizer; by its length when the tokenizer cannot run, or not yet. */
export const tokenize = (text: string): Promise<number> =>
  new Promise((resolve) => {
    if (state === 'slow' || (thread === undefined && !canOpen(FOR_A_THREAD))) {
      resolve(guess(text.length))
      return
    }
    const id = ++last
    waiting.set(id, { chars: text.length, resolve })
    clearTimeout(idle)
    timeout ??= setTimeout(giveUp, ANSWER_MS)
    try {
      thread ??= start()
      thread.ref()
      thread.postMessage({ id, text } satisfies ToCount)
    } catch {
      stop()
    }
  })

const guess = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN)

const start = (): Worker => {
  const worker = new Worker(new URL(THREAD, import.meta.url).href)
  worker.onmessage = ({ data }: MessageEvent<Counted>) => {
    state = 'ready'
    const request = waiting.get(data.id)
    waiting.delete(data.id)
    request?.resolve(data.tokens)
    clearTimeout(timeout)
    timeout = waiting.size > 0 ? setTimeout(giveUp, ANSWER_MS) : undefined
    if (waiting.size === 0) stopWhenIdle(worker)
  }
  worker.onerror = stop
  return worker
}

/** An idle thread does not keep the process alive, and is ended after a while. */
const stopWhenIdle = (worker: Worker): void => {
  worker.unref()
  clearTimeout(idle)
  idle = setTimeout(stop, IDLE_MS)
  idle.unref()
}

const stop = (): void => {
  clearTimeout(idle)
  thread?.terminate()
  thread = undefined
  state = 'loading'
  answerByGuess()
}

const giveUp = (): void => {
  if (thread === undefined || state === 'ready') {
    stop()
    return
  }
  state = 'slow'
  answerByGuess()
  stopWhenIdle(thread)
}

const answerByGuess = (): void => {
  clearTimeout(timeout)
  timeout = undefined
  for (const { chars, resolve } of waiting.values()) resolve(guess(chars))
  waiting.clear()
}
