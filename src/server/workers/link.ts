// A worker's connection to the owner of the books: made anew when it is lost, and what waits for an answer is told so.

import type { Ask, SharedNode, Verdict } from '../../ledger/shared.ts'
import { type Channel, connectTo } from '../../lib/channel.ts'
import type { FromOwner, FromWorker } from './messages.ts'

/** Between two tries to reach an owner. */
const AGAIN_MS = 50
/** An owner that says nothing for so long while it is asked is not connected to any more. */
const SILENT_MS = 10_000
/** An owner that has ended is there again by then, however busy the machine is; a client that waits for it may be gone. */
const INSIST_MS = 60_000

export type Link = SharedNode & {
  /** Goes out where there is a connection, and is lost where there is none. */
  send(message: FromWorker): void
  /** Undefined where the connection is lost before there is an answer. */
  ask(message: (n: number) => FromWorker): Promise<FromOwner | undefined>
  /** Asks the next owner too where one ends before it has answered, as long as one may take to begin. */
  insist(message: (n: number) => FromWorker): Promise<void>
  isUp(): boolean
  close(): void
}

type LinkOptions = {
  path: string
  /** What is said first on every connection. */
  hello(): FromWorker
  /** What comes without being asked for. */
  heard(message: FromOwner): void
}

/** Resolves once it is connected. */
export const createLink = async ({ path, hello, heard }: LinkOptions): Promise<Link> => {
  let channel: Channel | undefined
  let closed = false
  let last = 0
  const waiting = new Map<number, { since: number; resolve: (answer: FromOwner | undefined) => void }>()

  const send = (message: FromWorker): void => channel?.send(message)
  const connect = (): Promise<void> =>
    connectTo(path, (made) => {
      if (closed) {
        made.close()
        return { heard: () => undefined, closed: () => undefined }
      }
      channel = made
      made.send(hello())
      return {
        heard(data) {
          const message = data as FromOwner
          // The owner's own questions have numbers too, of another series.
          const n = message.what === 'verdicts' || message.what === 'done' ? message.n : undefined
          const asked = n === undefined ? undefined : waiting.get(n)
          if (n === undefined || asked === undefined) return heard(message)
          waiting.delete(n)
          asked.resolve(message)
        },
        closed() {
          channel = undefined
          const lost = [...waiting.values()]
          waiting.clear()
          for (const { resolve } of lost) resolve(undefined)
          void keepTrying()
        },
      }
    })
  const keepTrying = async (): Promise<void> => {
    while (!closed && channel === undefined) {
      try {
        await connect()
        return
      } catch {
        await Bun.sleep(AGAIN_MS)
      }
    }
  }
  const looking = setInterval(() => {
    const now = performance.now()
    if ([...waiting.values()].some(({ since }) => now - since > SILENT_MS)) channel?.close()
  }, SILENT_MS / 10)
  looking.unref()

  const ask: Link['ask'] = (message) =>
    new Promise((resolve) => {
      if (channel === undefined) return resolve(undefined)
      const n = last++
      waiting.set(n, { since: performance.now(), resolve })
      channel.send(message(n))
    })

  const insist: Link['insist'] = async (message) => {
    const end = performance.now() + INSIST_MS
    while ((await ask(message)) === undefined && performance.now() < end) await Bun.sleep(AGAIN_MS)
  }

  await keepTrying()
  return {
    send,
    ask,
    insist,
    async carry(group: readonly Ask[]): Promise<Verdict[]> {
      const answer = await ask((n) => ({ what: 'ask', n, group: [...group] }))
      if (answer?.what !== 'verdicts') throw new Error('the owner of the books is not there')
      return answer.verdicts
    },
    isUp: () => channel !== undefined,
    close() {
      closed = true
      clearInterval(looking)
      channel?.close()
    },
  }
}
