// Alerts on their way: for each receiver one is sent at a time, and after a failure all of its own wait. None is lost while
// it is kept, and each comes at least once: one that was taken just before a kill comes again, under the same id.

import { DAY_MS, HOUR_MS } from '../lib/spans.ts'
import type { Delivery, DeliveryEnd, Receiver } from './alert.ts'
import { send } from './send.ts'

/** Alerts that wait for one receiver; the oldest makes room for the next. */
export const MOST_WAITING = 1_000
/** How long an alert is tried: what is older helps nobody. */
export const KEPT_MS = 3 * DAY_MS
/** After failures in a row, the last for all that follow. */
const PAUSES_MS = [1_000, 5_000, 30_000, 120_000, 600_000, 1_800_000, HOUR_MS]
/** How long a stop waits for what is being sent. */
const LAST_MS = 2_000

/** How a receiver does. `failing`: since its last success. */
export type Standing = {
  waiting: number
  sentAt: number | undefined
  failing: { since: number; words: string } | undefined
}

type Outbox = {
  add(deliveries: readonly Delivery[]): void
  standingOf(receiver: string): Standing
  /** The receivers have changed: what waits is tried at once. */
  retry(): void
  /** What was not sent is sent by the next process. */
  stop(): Promise<void>
}

type Options = {
  /** Those of the configuration in force. */
  receivers: () => readonly Receiver[]
  /** Left by the process before. */
  waiting: readonly Delivery[]
  closed: (delivery: Delivery, end: DeliveryEnd) => void
  failed: (receiver: string, words: string) => void
  clock: () => number
  patienceMs?: number | undefined
  /** Tests give their own. */
  later?: (run: () => void, delayMs: number) => Timer
}

type Waiting = Delivery & { tries: number }

type Courier = {
  readonly name: string
  queue: Waiting[]
  sending: Waiting | undefined
  pause: Timer | undefined
  failures: number
  failing: Standing['failing']
  sentAt: number | undefined
}

export const createOutbox = ({
  receivers,
  waiting,
  closed,
  failed,
  clock,
  patienceMs,
  later = soon,
}: Options): Outbox => {
  const couriers = new Map<string, Courier>()
  const under = new Set<Promise<void>>()
  const stop = new AbortController()
  let stopping = false

  const courierOf = (name: string): Courier => {
    const known = couriers.get(name)
    if (known !== undefined) return known
    const fresh: Courier = {
      ...{ name, queue: [], sending: undefined, pause: undefined, failures: 0, failing: undefined, sentAt: undefined },
    }
    couriers.set(name, fresh)
    return fresh
  }
  const take = (courier: Courier, delivery: Waiting, end: DeliveryEnd): void => {
    courier.queue = courier.queue.filter((each) => each !== delivery)
    closed(delivery, end)
  }
  const put = (delivery: Delivery): Courier => {
    const courier = courierOf(delivery.receiver)
    courier.queue.push({ ...delivery, tries: 0 })
    const oldest = courier.queue.find((each) => each !== courier.sending)
    if (courier.queue.length > MOST_WAITING && oldest !== undefined) take(courier, oldest, 'drop')
    return courier
  }
  /** The one tried least, so that one which is refused holds up no other. */
  const nextOf = (courier: Courier): Waiting | undefined => {
    for (const old of courier.queue.filter(({ alert }) => clock() - alert.at > KEPT_MS)) take(courier, old, 'give-up')
    return courier.queue.reduce<Waiting | undefined>(
      (least, each) => (least === undefined || each.tries < least.tries ? each : least),
      undefined,
    )
  }
  const deliver = async (courier: Courier): Promise<void> => {
    for (;;) {
      const receiver = receivers().find(({ name }) => name === courier.name)
      const next = receiver && nextOf(courier)
      if (stopping || receiver === undefined || next === undefined) return
      courier.sending = next
      const sent = await send(receiver, next.alert, { stop: stop.signal, nowMs: clock(), patienceMs })
      courier.sending = undefined
      if (!sent.ok) {
        if (!stop.signal.aborted) fail(courier, next, sent)
        return
      }
      courier.failures = 0
      courier.failing = undefined
      courier.sentAt = clock()
      take(courier, next, 'send')
    }
  }
  const fail = (
    courier: Courier,
    tried: Waiting,
    { words, retryAfterMs = 0 }: { words: string; retryAfterMs?: number | undefined },
  ) => {
    tried.tries++
    if (courier.failing?.words !== words) failed(courier.name, words)
    courier.failing = { since: courier.failing?.since ?? clock(), words }
    const pauseMs = PAUSES_MS[Math.min(courier.failures++, PAUSES_MS.length - 1)] ?? HOUR_MS
    courier.pause = later(
      () => {
        courier.pause = undefined
        wake(courier)
      },
      Math.max(pauseMs, Math.min(retryAfterMs, HOUR_MS)),
    )
  }
  const wake = (courier: Courier): void => {
    if (stopping || courier.sending !== undefined || courier.pause !== undefined) return
    const run = deliver(courier).finally(() => under.delete(run))
    under.add(run)
  }

  for (const delivery of waiting) put(delivery)
  return {
    add: (deliveries) => {
      for (const courier of new Set(deliveries.map(put))) wake(courier)
    },
    standingOf: (name) => {
      const courier = couriers.get(name)
      return { waiting: courier?.queue.length ?? 0, sentAt: courier?.sentAt, failing: courier?.failing }
    },
    retry: () => {
      for (const courier of couriers.values()) {
        clearTimeout(courier.pause)
        courier.pause = undefined
        courier.failures = 0
        wake(courier)
      }
    },
    stop: async () => {
      stopping = true
      for (const { pause } of couriers.values()) clearTimeout(pause)
      const last = setTimeout(() => stop.abort(), LAST_MS)
      await Promise.all(under)
      clearTimeout(last)
    },
  }
}

const soon = (run: () => void, delayMs: number): Timer => setTimeout(run, delayMs).unref()
