// Alerts on their way to receivers that fail, hang and come back.

import { afterEach, describe, expect, test } from 'bun:test'
import type { Receiver } from '../../src/alerts/alert.ts'
import { createOutbox, KEPT_MS, MOST_WAITING } from '../../src/alerts/outbox.ts'
import { freePort } from '../support/free-port.ts'
import { alertOf, createEnds, createPauses, type Hook, startHook, webhook } from './support.ts'

const hooks: Hook[] = []
afterEach(async () => {
  for (const hook of hooks.splice(0)) await hook.stop()
})
const hooked = (): Hook => {
  const hook = startHook()
  hooks.push(hook)
  return hook
}

const setUp = (receivers: Receiver[], { now = (): number => 0, patienceMs = 10_000 } = {}) => {
  const pauses = createPauses()
  const ends = createEnds()
  const failures: { receiver: string; words: string }[] = []
  const failing: (() => void)[] = []
  const outbox = createOutbox({
    ...{ receivers: () => receivers, waiting: [], closed: ends.closed, clock: now, patienceMs },
    failed: (receiver, words) => failures.push({ receiver, words }),
    later: (run, delayMs) => {
      const timer = pauses.later(run, delayMs)
      for (const resolve of failing.splice(0)) resolve()
      return timer
    },
  })
  /** Resolves with the next failure. */
  const failure = (): Promise<void> => new Promise((resolve) => failing.push(resolve))
  return { outbox, pauses, ends, failures, failure }
}

const idsOf = ({ requests }: Hook): (string | null)[] => requests.map(({ headers }) => headers.get('webhook-id'))

describe('an alert', () => {
  test('is sent to each of its receivers once', async () => {
    const [one, two] = [hooked(), hooked()]
    const { outbox, ends } = setUp([webhook('one', one.url), webhook('two', two.url)])
    const alert = alertOf('a')
    outbox.add([
      { alert, receiver: 'one' },
      { alert, receiver: 'two' },
    ])
    await ends.until(2)
    expect([idsOf(one), idsOf(two)]).toEqual([['a'], ['a']])
    expect(outbox.standingOf('one')).toEqual({ waiting: 0, sentAt: 0, failing: undefined })
  })

  test('is tried again after ever longer pauses, the same and newly signed, until it is taken', async () => {
    const hook = hooked()
    let now = 1_000_000
    const { outbox, pauses, ends, failures, failure } = setUp([webhook('one', hook.url)], { now: () => now })
    hook.behave(500)
    for (let tries = 0; tries < 9; tries++) {
      const failed = failure()
      if (tries === 0) outbox.add([{ alert: alertOf('a', now), receiver: 'one' }])
      else pauses.end()
      await failed
      now += 2_000
    }
    expect(pauses.lengths()).toEqual([1e3, 5e3, 30e3, 120e3, 600e3, 1_800e3, 3_600e3, 3_600e3, 3_600e3])
    expect(outbox.standingOf('one')).toMatchObject({
      waiting: 1,
      failing: { since: 1_000_000, words: 'it answers 500' },
    })
    hook.behave('take')
    pauses.end()
    await ends.until(1)
    expect(new Set(idsOf(hook))).toEqual(new Set(['a']))
    expect(new Set(hook.requests.map(({ text }) => text)).size).toBe(1)
    expect(new Set(hook.requests.map(({ headers }) => headers.get('webhook-signature'))).size).toBe(10)
    // The same trouble is logged once.
    expect(failures).toEqual([{ receiver: 'one', words: 'it answers 500' }])
  })

  test('outlives a receiver that takes it and never answers', async () => {
    const hook = hooked()
    const { outbox, pauses, ends, failures, failure } = setUp([webhook('one', hook.url)], { patienceMs: 50 })
    hook.behave('hang')
    const failed = failure()
    outbox.add([{ alert: alertOf('a'), receiver: 'one' }])
    await failed
    hook.behave('take')
    pauses.end()
    await ends.until(1)
    expect(failures).toEqual([{ receiver: 'one', words: 'it did not answer in time' }])
    expect(ends.ends).toEqual([{ id: 'a', receiver: 'one', end: 'send' }])
  })

  test('outlives a receiver that is not there, and does not hold up another', async () => {
    const port = freePort()
    const there = hooked()
    const { outbox, pauses, ends, failure } = setUp([
      webhook('gone', `http://127.0.0.1:${port}/hook`),
      webhook('there', there.url),
    ])
    const failed = failure()
    const alert = alertOf('a')
    outbox.add([
      { alert, receiver: 'gone' },
      { alert, receiver: 'there' },
    ])
    await failed
    await ends.until(1)
    expect(ends.ends).toEqual([{ id: 'a', receiver: 'there', end: 'send' }])
    const back = startHook(port)
    hooks.push(back)
    pauses.end()
    await ends.until(2)
    expect(idsOf(back)).toEqual(['a'])
  })

  test('that is refused holds up no other', async () => {
    const hook = hooked()
    const { outbox, pauses, ends, failure } = setUp([webhook('one', hook.url)])
    hook.behave((_, id) => new Response(null, { status: id === 'bad' ? 400 : 200 }))
    const failed = failure()
    outbox.add(['bad', 'b', 'c'].map((id) => ({ alert: alertOf(id), receiver: 'one' })))
    await failed
    pauses.end()
    await ends.until(2)
    expect(ends.ends.map(({ id }) => id)).toEqual(['b', 'c'])
  })

  test('waits as long as its receiver asks for, an hour at most', async () => {
    const hook = hooked()
    const { outbox, pauses, failure } = setUp([webhook('one', hook.url)])
    for (const [asked, first] of [
      ['42', true],
      ['999999', false],
    ] as const) {
      hook.behave(() => new Response(null, { status: 429, headers: { 'retry-after': asked } }))
      const failed = failure()
      if (first) outbox.add([{ alert: alertOf('a'), receiver: 'one' }])
      else pauses.end()
      await failed
    }
    expect(pauses.lengths()).toEqual([42_000, 3_600_000])
  })

  test('follows no redirect', async () => {
    const [hook, elsewhere] = [hooked(), hooked()]
    hook.behave(() => new Response(null, { status: 307, headers: { location: elsewhere.url } }))
    const { outbox, failures, failure } = setUp([webhook('one', hook.url)])
    const failed = failure()
    outbox.add([{ alert: alertOf('a'), receiver: 'one' }])
    await failed
    expect(elsewhere.requests).toEqual([])
    expect(failures[0]?.words).toContain('sends on to another address (307)')
  })
})

describe('what waits', () => {
  test('is bounded: the oldest makes room, and is told as dropped', async () => {
    const hook = hooked()
    const { outbox, ends, failure } = setUp([webhook('one', hook.url)])
    hook.behave(503)
    const failed = failure()
    outbox.add(Array.from({ length: MOST_WAITING }, (_, at) => ({ alert: alertOf(`a${at}`), receiver: 'one' })))
    await failed
    outbox.add([{ alert: alertOf('last'), receiver: 'one' }])
    expect(ends.ends).toEqual([{ id: 'a0', receiver: 'one', end: 'drop' }])
    expect(outbox.standingOf('one').waiting).toBe(MOST_WAITING)
  })

  test('is given up after three days', async () => {
    const hook = hooked()
    let now = 0
    const { outbox, pauses, ends, failure } = setUp([webhook('one', hook.url)], { now: () => now })
    hook.behave(503)
    const failed = failure()
    outbox.add([{ alert: alertOf('a'), receiver: 'one' }])
    await failed
    now = KEPT_MS + 1
    pauses.end()
    await ends.until(1)
    expect(ends.ends).toEqual([{ id: 'a', receiver: 'one', end: 'give-up' }])
    expect(hook.requests).toHaveLength(1)
  })

  test('stays while its receiver is not in the configuration, and goes once it is', async () => {
    const hook = hooked()
    const receivers: Receiver[] = []
    const { outbox, ends } = setUp(receivers)
    outbox.add([{ alert: alertOf('a'), receiver: 'one' }])
    receivers.push(webhook('one', hook.url))
    outbox.retry()
    await ends.until(1)
    expect(idsOf(hook)).toEqual(['a'])
  })

  test('is left to the next process by a stop, which waits for what is being sent', async () => {
    const hook = hooked()
    const { outbox, ends } = setUp([webhook('one', hook.url)])
    const { promise, resolve } = Promise.withResolvers<void>()
    hook.behave(() => {
      resolve()
      return new Response(null, { status: 200 })
    })
    outbox.add(['a', 'b'].map((id) => ({ alert: alertOf(id), receiver: 'one' })))
    await promise
    await outbox.stop()
    expect(ends.ends).toEqual([{ id: 'a', receiver: 'one', end: 'send' }])
    expect(outbox.standingOf('one').waiting).toBe(1)
  })
})
