// What is told and when: each cause once for as long as it holds, over restarts too.

import type { Actor } from '../keys/key.ts'
import { randomBase62 } from '../keys/secret.ts'
import { createInOrder } from '../lib/in-order.ts'
import type { Known } from '../lib/known.ts'
import type {
  Alert,
  AlertRules,
  AlertStore,
  AlertType,
  Delivery,
  DeliveryEnd,
  Item,
  Receiver,
  Telling,
} from './alert.ts'
import { createOutbox, type Standing } from './outbox.ts'
import { send } from './send.ts'

/** What holds now: of what, for which stretch of time where it has some, and in words. */
export type Holding = { subject: string; period?: string; text: string; facts: Omit<Item, 'cause' | 'text'> }

/** Finds what is to be told. */
export type Rule = {
  type: AlertType
  /** All that holds; undefined: as when it was last looked. */
  look(): Known<Holding[] | undefined>
  /** Whether nothing is known of a subject now: what was told of it may hold still. */
  isUnknown?(subject: string): boolean
  /** So long after it was told what was over meanwhile is not told again. */
  quietMs?: number
  /** What holds at the first look ever is as it should be. */
  isSettled?: true
}

/** What became of a test. */
type Tested = { receiver: string; ok: boolean; words: string }

export type Alerts = {
  /** Whether there is anyone to tell. */
  isOn(): boolean
  /** To be called one after the other. */
  look(rules: readonly Rule[]): Promise<void>
  /** Sends a test to a receiver, or to all of them, and waits for what comes of it. */
  test(receiver: string | undefined, actor: Actor): Promise<Tested[]>
  standingOf(receiver: string): Standing
  /** The configuration has changed. */
  reconfigured(): void
  stop(): Promise<void>
}

type Options = {
  store: AlertStore
  rules: () => AlertRules
  clock: () => number
  warn: (message: string, facts: object) => void
  patienceMs?: number | undefined
  /** Another process looks, and sends what waits: this one sends tests. */
  isIdle?: boolean
}

/** Causes in one alert. */
const MOST_ITEMS = 20
/** Writes that wait for a database in trouble. */
const MOST_UNWRITTEN = 1_000

export const createAlerts = async ({
  store,
  rules,
  clock,
  warn,
  patienceMs,
  isIdle = false,
}: Options): Promise<Alerts> => {
  const told = new Map((await store.told()).map((each) => [each.cause, { ...each, over: false }]))
  /** In their order. The trouble may be that of the very database they are for: alerts go out all the same. */
  const unwritten: (() => Promise<void>)[] = []
  const inOrder = createInOrder()
  /** Resolves once it is written, or failed to be for now. */
  const write = (run: () => Promise<void>): Promise<void> => {
    if (unwritten.push(run) > MOST_UNWRITTEN) unwritten.shift()
    return catchUp()
  }
  const catchUp = (): Promise<void> => inOrder(writeAll)
  const writeAll = async (): Promise<void> => {
    try {
      for (let next = unwritten[0]; next !== undefined; next = unwritten[0]) {
        await next()
        if (unwritten[0] === next) unwritten.shift()
      }
    } catch (cause) {
      if (unwritten.length === 1)
        warn('an alert could not be written down: it is tried again', { cause: String(cause) })
    }
  }
  const outbox = createOutbox({
    receivers: () => rules().receivers,
    waiting: isIdle ? [] : await store.waiting(),
    closed: (delivery: Delivery, end: DeliveryEnd) => {
      if (end !== 'send') warn(LOST[end], { receiver: delivery.receiver, alert: delivery.alert.id })
      void write(() => store.close(delivery, end, ALERTS))
    },
    failed: (receiver, words) => warn(`an alert could not be sent: ${words}`, { receiver }),
    clock,
    patienceMs,
  })

  const takers = (type: AlertType): Receiver[] =>
    rules().receivers.filter(({ only }) => only === undefined || only.includes(type))

  const lookBy = async (rule: Rule): Promise<void> => {
    const { type, quietMs = 0 } = rule
    const to = takers(type)
    const held = to.length === 0 ? undefined : await rule.look()
    if (held === undefined) return
    const now = clock()
    const causes = new Map(held.map((holding) => [causeOf(type, holding.subject), holding]))
    const forgotten: string[] = []
    for (const [cause, was] of told) {
      if (!cause.startsWith(`${type}/`) || causes.has(cause) || rule.isUnknown?.(subjectOf(cause))) continue
      was.over = true
      if (subjectOf(cause) !== '' && now - was.at >= quietMs) forgotten.push(cause)
    }
    const fresh = [...causes].filter(([cause, { period = '' }]) => {
      const was = told.get(cause)
      return was === undefined || was.period !== period || (was.over && now - was.at >= quietMs)
    })
    const isFirst = rule.isSettled === true && !told.has(causeOf(type, ''))
    const markOf = (cause: string, period: string): Telling => ({ cause, period, at: now, was: told.get(cause)?.at })
    const marks = fresh.map(([cause, { period = '' }]) => markOf(cause, period))
    if (isFirst) marks.push(markOf(causeOf(type, ''), ''))
    if (marks.length + forgotten.length === 0) return
    const items = fresh.map(([cause, { text, facts }]): Item => ({ cause, text, ...facts }))
    const deliveries = isFirst || items.length === 0 ? [] : deliveriesOf(alertOf(type, now, items), to)
    for (const cause of forgotten) told.delete(cause)
    for (const { cause, period, at } of marks) told.set(cause, { cause, period, at, over: false })
    let isOurs = true
    await write(async () => {
      isOurs = await store.tell(marks, forgotten, deliveries)
    })
    // Whoever stood still while another took over finds that it has looked already.
    if (isOurs) outbox.add(deliveries)
  }

  return {
    isOn: () => rules().receivers.length > 0,
    look: async (all) => {
      await catchUp()
      for (const rule of all) await lookBy(rule)
    },
    test: (name, actor) =>
      Promise.all(
        rules()
          .receivers.filter((receiver) => name === undefined || receiver.name === name)
          .map(async (receiver) => {
            const text = `This is a test of sluice's alerts to ${receiver.name}.`
            const alert = alertOf('test', clock(), [{ cause: 'test', text }])
            const sent = await send(receiver, alert, { stop: NEVER, nowMs: clock(), patienceMs })
            if (!sent.ok) return { receiver: receiver.name, ok: false, words: sent.words }
            await write(() => store.close({ alert, receiver: receiver.name }, 'send', actor))
            return { receiver: receiver.name, ok: true, words: 'it took the test' }
          }),
      ),
    standingOf: outbox.standingOf,
    reconfigured: outbox.retry,
    stop: async () => {
      await outbox.stop()
      await catchUp()
    },
  }
}

const alertOf = (type: Alert['type'], at: number, items: Item[]): Alert => ({
  ...{ id: `alr_${randomBase62(20)}`, type, at },
  ...{ items: items.slice(0, MOST_ITEMS), more: Math.max(0, items.length - MOST_ITEMS) },
})

const deliveriesOf = (alert: Alert, to: readonly Receiver[]): Delivery[] =>
  to.map(({ name }) => ({ alert, receiver: name }))

const causeOf = (type: AlertType, subject: string): string => `${type}/${subject}`
const subjectOf = (cause: string): string => cause.slice(cause.indexOf('/') + 1)

/** Who sends alerts, in the audit. */
const ALERTS: Actor = { kind: 'system', id: 'alerts' }

const NEVER = new AbortController().signal

const LOST = {
  'give-up': 'an alert was not sent: its receiver has not taken it for three days',
  drop: 'an alert was not sent: too many wait for its receiver',
}
