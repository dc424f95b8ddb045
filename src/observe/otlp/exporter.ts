// Sends what is gathered in batches, off the way of requests: one at a time, tried again where that can help, and no more of
// it held than is bounded.

/** What one batch holds at most, and how long the first of it waits. */
const BATCH = 128
const GATHER_MS = 5_000
/** What waits at most; more is dropped, and counted. */
export const MOST_HELD = 4_096
/** The same in bytes, of items that have any to speak of. Receivers take some megabytes at once. */
const BATCH_BYTES = 2 * 1024 * 1024
export const MOST_HELD_BYTES = 32 * 1024 * 1024
const PATIENCE_MS = 10_000
/** Between tries of a batch, which is dropped after the last. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000]
/** Statuses that a receiver may answer otherwise next time. */
const PASSING = new Set([408, 429, 502, 503, 504])

type Exporter<Item> = {
  add(items: readonly Item[]): void
  /** How many were not taken. */
  dropped(): number
  /** Sends what is left, for so long at most. */
  stop(withinMs: number): Promise<void>
}

type Options<Item> = {
  url: string
  headers: Record<string, string>
  encode: (items: Item[]) => Uint8Array | undefined
  /** Bytes of an item, about; absent: too few to be counted. */
  weigh?: (item: Item) => number
  /** How many of a batch that was taken the receiver says it has refused. */
  rejected: (answer: Uint8Array) => number
  failed: (words: string) => void
  /** Tests give their own. */
  pausesMs?: readonly number[]
  gatherMs?: number
}

export const createExporter = <Item>({
  url,
  headers,
  encode,
  weigh = () => 0,
  rejected,
  failed,
  pausesMs = PAUSES_MS,
  gatherMs = GATHER_MS,
}: Options<Item>): Exporter<Item> => {
  let held: Item[] = []
  let heldBytes = 0
  let dropped = 0
  let due: Timer | undefined
  let sending: Promise<void> | undefined
  let wakeEarly: (() => void) | undefined
  let stopping = false
  const end = new AbortController()

  const drop = (count: number, words: string): void => {
    dropped += count
    failed(words)
  }
  /** Resolves with how many were refused of it, or why it was not taken and whether another try may help. */
  const post = async (body: Uint8Array): Promise<number | { words: string; passing: boolean }> => {
    try {
      const response = await fetch(url, {
        ...{ method: 'POST', redirect: 'manual', body: new Uint8Array(body) },
        headers: { 'content-type': 'application/x-protobuf', 'user-agent': 'sluice', ...headers },
        signal: AbortSignal.any([end.signal, AbortSignal.timeout(PATIENCE_MS)]),
      })
      const answer = new Uint8Array(await response.arrayBuffer())
      if (response.ok) return rejected(answer)
      return { words: `it answers ${response.status}`, passing: PASSING.has(response.status) }
    } catch {
      return { words: 'nothing answers there', passing: true }
    }
  }
  const sendBatch = async (batch: Item[]): Promise<void> => {
    const body = encode(batch)
    if (body === undefined) return drop(batch.length, 'it could not be encoded')
    for (let tries = 0; ; tries++) {
      const sent = await post(body)
      if (typeof sent === 'number') {
        if (sent > 0) drop(sent, 'it refuses a part')
        return
      }
      const pauseMs = pausesMs[tries]
      if (!sent.passing || pauseMs === undefined || end.signal.aborted) return drop(batch.length, sent.words)
      await pause(pauseMs)
    }
  }
  const pause = async (ms: number): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    wakeEarly = resolve
    if (end.signal.aborted) resolve()
    await promise
    clearTimeout(timer)
  }
  /** The first of what waits, and of the others as many as fit beside it. */
  const nextBatch = (): Item[] => {
    let bytes = 0
    const end = held.findIndex((item, at) => {
      if (at > 0 && (at >= BATCH || bytes + weigh(item) > BATCH_BYTES)) return true
      bytes += weigh(item)
      return false
    })
    const batch = end === -1 ? held : held.slice(0, end)
    held = held.slice(batch.length)
    heldBytes -= bytes
    return batch
  }
  const isDue = (): boolean => held.length >= BATCH || heldBytes >= BATCH_BYTES
  const send = async (): Promise<void> => {
    clearTimeout(due)
    due = undefined
    do {
      await sendBatch(nextBatch())
    } while (isDue() || (stopping && held.length > 0))
    sending = undefined
    if (held.length > 0) gather()
  }
  const gather = (): void => {
    if (sending !== undefined) return
    if (isDue()) sending = send()
    else
      due ??= setTimeout(() => {
        sending ??= send()
      }, gatherMs).unref()
  }
  return {
    add: (items) => {
      let taken = 0
      for (const item of items) {
        if (held.length >= MOST_HELD || heldBytes >= MOST_HELD_BYTES) break
        held.push(item)
        heldBytes += weigh(item)
        taken++
      }
      if (taken < items.length) drop(items.length - taken, 'too many wait')
      if (held.length > 0) gather()
    },
    dropped: () => dropped,
    stop: async (withinMs) => {
      stopping = true
      const last = setTimeout(() => {
        end.abort()
        wakeEarly?.()
      }, withinMs)
      await sending
      if (held.length > 0) await send()
      clearTimeout(last)
      clearTimeout(due)
    },
  }
}
