// The open WebSockets: each is looked at now and then, all are ended when the server stops. What their clients want kept
// nowhere is remembered for as long as they are open.

import { createAnswersInMemory } from '../ledger/kept-in-memory.ts'
import { HOUR_MS } from '../lib/spans.ts'
import type { Turns } from '../lib/turns.ts'
import { createRecall, type Recall } from '../relay/adapt/recall.ts'

/** A WebSocket, as far as others end it. */
export type OpenSocket = {
  readonly id: string
  /** Ends it where its key is in force no more. */
  check(): void
  /** Ends it once its last answer is over: the server is stopping. */
  drain(): void
}

export type Sockets = {
  readonly count: number
  /** The oldest that one may become. */
  maxAgeMs: number
  /** Requests and answers that go on within one connection, by its id. */
  readonly recall: Recall
  opened(socket: OpenSocket): void
  closed(socket: OpenSocket): void
  drain(): void
}

/** How often keys are looked at: one that is revoked is to end what is open by it soon. */
const CHECK_MS = 1_000

/** As the vendor has it: agents know the words by which that is told. */
const MAX_AGE_MS = HOUR_MS

/** The most that is remembered for one connection, and for all of them. What is forgotten, clients send again. */
const BOUNDS = { perKey: 16 * 1024 ** 2, total: 128 * 1024 ** 2 }
/** A longer request is not even read for that. */
export const MOST_REMEMBERED_BYTES = BOUNDS.perKey

export const createSockets = (turns: Turns, checkMs = CHECK_MS): Sockets => {
  const answers = createAnswersInMemory()
  const open = new Set<OpenSocket>()
  let checks: Timer | undefined
  const check = (): void => {
    for (const socket of open) socket.check()
  }
  return {
    get count() {
      return open.size
    },
    maxAgeMs: MAX_AGE_MS,
    recall: createRecall({
      answers: () => answers,
      bounds: () => BOUNDS,
      turns,
      // Memory waits for nobody, and refuses nothing.
      failed: () => undefined,
    }),
    opened(socket) {
      open.add(socket)
      checks ??= setInterval(check, checkMs).unref()
    },
    closed(socket) {
      open.delete(socket)
      answers.forgetAll(socket.id)
      if (open.size > 0) return
      clearInterval(checks)
      checks = undefined
    },
    drain() {
      for (const socket of open) socket.drain()
    },
  }
}
