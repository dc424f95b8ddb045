// Work that must not hold the event loop up, in a worker thread: started when it is first asked, ended when it is idle.

import { canOpen, FOR_A_THREAD } from './descriptors.ts'

/** A thread is ended after this long without work, to free its memory. */
const IDLE_MS = 60_000

export type Thread<Ask, Answer> = {
  /**
   * Answered in turn; both sides are copied. Rejects where the thread cannot run or fails, and where it is stopped.
   * Does not keep the process alive.
   */
  ask(ask: Ask): Promise<Answer>
  /** Whether it runs and has answered: it is not still loading. */
  ready(): boolean
  /** Ends it at once. The next ask starts another. */
  stop(): void
}

type Asked<Ask> = { id: number; ask: Ask }
type Answered<Answer> = { id: number } & ({ answer: Answer } | { failure: string })

/** `module`: its path below the source folder; it calls `answerAsks`. The build names it as an entry point. */
export const createThread = <Ask, Answer>(module: string): Thread<Ask, Answer> => {
  const waiting = new Map<number, PromiseWithResolvers<Answer>>()
  let worker: Worker | undefined
  let ready = false
  let idle: Timer | undefined
  let last = 0

  const end = (why: string): void => {
    clearTimeout(idle)
    worker?.terminate()
    worker = undefined
    ready = false
    const left = [...waiting.values()]
    waiting.clear()
    for (const { reject } of left) reject(new Error(why))
  }
  const start = (): Worker => {
    if (!canOpen(FOR_A_THREAD)) throw new Error('too few file descriptors are left for a thread')
    const started = new Worker(urlOf(module))
    started.onmessage = ({ data }: MessageEvent<Answered<Answer>>) => {
      if (worker !== started) return
      ready = true
      const asked = waiting.get(data.id)
      waiting.delete(data.id)
      if ('failure' in data) asked?.reject(new Error(data.failure))
      else asked?.resolve(data.answer)
      if (waiting.size > 0) return
      idle = setTimeout(end, IDLE_MS, 'idle')
      idle.unref()
    }
    started.onerror = ({ message }) => {
      if (worker === started) end(message)
    }
    started.unref()
    return started
  }

  return {
    async ask(ask) {
      worker ??= start()
      const id = ++last
      worker.postMessage({ id, ask } satisfies Asked<Ask>)
      clearTimeout(idle)
      const asked = Promise.withResolvers<Answer>()
      waiting.set(id, asked)
      return asked.promise
    },
    ready: () => ready,
    stop: () => end('stopped'),
  }
}

// In the compiled binary all modules have the path of the entry point.
const urlOf = (module: string): string =>
  new URL(import.meta.file === 'thread.ts' ? `../${module}` : `./${module}`, import.meta.url).href

declare const self: Worker

/** The thread's side: what it does with each ask. */
export const answerAsks = <Ask, Answer>(answer: (ask: Ask) => Answer): void => {
  self.onmessage = ({ data: { id, ask } }: MessageEvent<Asked<Ask>>) => {
    let answered: Answered<Answer>
    try {
      answered = { id, answer: answer(ask) }
    } catch (error) {
      answered = { id, failure: String(error) }
    }
    self.postMessage(answered)
  }
}
