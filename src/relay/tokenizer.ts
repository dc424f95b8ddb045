// The tokenizer, in a thread of its own: its tables take long to load and much memory, and streams must not wait.

import { canOpen, FOR_A_THREAD } from '../lib/descriptors.ts'
import type { Counted, ToCount } from './tokenizer-thread.ts'

/** After so long without work the thread goes, and its memory with it. */
const IDLE_MS = 60_000
/** A thread that does not answer for so long is not waited for any more: a settlement must not be held. */
const PATIENCE_MS = 3_000
/** What is assumed where the tokenizer cannot run. */
const CHARS_PER_TOKEN = 4

// In the one compiled file every module stands where the entry point stood.
const THREAD = import.meta.file === 'tokenizer.ts' ? './tokenizer-thread.ts' : './relay/tokenizer-thread.ts'

let thread: Worker | undefined
/** `slow`: it has been waited for and is still loading. Begun anew, it would never be done on a busy machine. */
let state: 'loading' | 'slow' | 'ready' = 'loading'
let idle: ReturnType<typeof setTimeout> | undefined
let late: ReturnType<typeof setTimeout> | undefined
let last = 0
const waiting = new Map<number, { chars: number; resolve: (tokens: number) => void }>()

/** Tokens of a text by the tokenizer; by its length when the tokenizer cannot run, or not yet. */
export const tokenize = (text: string): Promise<number> =>
  new Promise((resolve) => {
    if (state === 'slow' || (thread === undefined && !canOpen(FOR_A_THREAD))) {
      resolve(byLength(text.length))
      return
    }
    const id = ++last
    waiting.set(id, { chars: text.length, resolve })
    clearTimeout(idle)
    late ??= setTimeout(giveUp, PATIENCE_MS)
    try {
      thread ??= start()
      thread.ref()
      thread.postMessage({ id, text } satisfies ToCount)
    } catch {
      stop()
    }
  })

const byLength = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN)

const start = (): Worker => {
  const worker = new Worker(new URL(THREAD, import.meta.url).href)
  worker.onmessage = ({ data }: MessageEvent<Counted>) => {
    state = 'ready'
    const asked = waiting.get(data.id)
    waiting.delete(data.id)
    asked?.resolve(data.tokens)
    clearTimeout(late)
    late = waiting.size > 0 ? setTimeout(giveUp, PATIENCE_MS) : undefined
    if (waiting.size === 0) rest(worker)
  }
  worker.onerror = stop
  return worker
}

/** Without work the thread keeps no process alive, and goes after a while. */
const rest = (worker: Worker): void => {
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
  answerByLength()
}

const giveUp = (): void => {
  if (thread === undefined || state === 'ready') {
    stop()
    return
  }
  state = 'slow'
  answerByLength()
  rest(thread)
}

const answerByLength = (): void => {
  clearTimeout(late)
  late = undefined
  for (const { chars, resolve } of waiting.values()) resolve(byLength(chars))
  waiting.clear()
}
