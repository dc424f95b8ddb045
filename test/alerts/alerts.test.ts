// Each cause is told once for as long as it holds, over restarts and reloads too.

import { afterEach, describe, expect, test } from 'bun:test'
import type { AlertRules } from '../../src/alerts/alert.ts'
import { type Alerts, createAlerts, type Holding, type Rule } from '../../src/alerts/alerts.ts'
import type { SqliteStore } from '../../src/store/store.ts'
import { ACTOR, cleanUp, HOUR, NOW, newPath, open } from '../store/support.ts'
import { type Hook, startHook, webhook } from './support.ts'

const hooks: Hook[] = []
const running: Alerts[] = []
afterEach(async () => {
  for (const alerts of running.splice(0)) await alerts.stop()
  for (const hook of hooks.splice(0)) await hook.stop()
  await cleanUp()
})

const holding = (subject: string, period = ''): Holding => ({ subject, period, text: `${subject} holds.`, facts: {} })

const setUp = async (path = newPath()) => {
  const hook = startHook()
  hooks.push(hook)
  let now = NOW
  let held: Holding[] = []
  let unknown: string[] = []
  const rules: AlertRules = {
    ...{ receivers: [webhook('one', hook.url)], marks: [], expiringMs: 0, restingMs: 0 },
    errorRate: { above: 1, requests: 1, withinMs: 1 },
  }
  const rule: Rule = { type: 'quota', look: () => held, isUnknown: (subject) => unknown.includes(subject) }
  const warnings: string[] = []
  let store: SqliteStore = open(path, () => now)
  const begin = async (): Promise<Alerts> => {
    const alerts = await createAlerts({
      ...{ store: store.alerts, rules: () => rules, clock: () => now, warn: (words) => warnings.push(words) },
    })
    running.push(alerts)
    return alerts
  }
  let alerts = await begin()
  return {
    ...{ hook, rules, warnings, path },
    store: () => store,
    alerts: () => alerts,
    /** Looks, and resolves with the causes that were told of. */
    look: async (now: Holding[], more: Partial<Rule> = {}): Promise<string[]> => {
      held = now
      const before = (await store.alerts.waiting()).length
      await alerts.look([{ ...rule, ...more }])
      const told = (await store.alerts.waiting()).slice(before).flatMap(({ alert }) => alert.items)
      return told.map(({ cause }) => cause)
    },
    pass: (ms: number) => {
      now += ms
    },
    forget: (subjects: string[]) => {
      unknown = subjects
    },
    restart: async () => {
      await alerts.stop()
      await store.close()
      store = open(path, () => now)
      alerts = await begin()
    },
  }
}

describe('a cause', () => {
  test('that another process has told of meanwhile is not sent', async () => {
    const { hook, look, store } = await setUp()
    const { tell } = store().alerts
    store().alerts.tell = async () => false
    await look([holding('a')])
    store().alerts.tell = tell
    await look([holding('a'), holding('b')])
    await hook.until(1)
    expect(hook.requests.map(({ text }) => JSON.parse(text).data.items)).toMatchObject([[{ cause: 'quota/b' }]])
  })

  test('is told once while it holds, and again once it was over', async () => {
    const { hook, look } = await setUp()
    hook.behave(503)
    expect(await look([holding('a')])).toEqual(['quota/a'])
    expect(await look([holding('a')])).toEqual([])
    expect(await look([])).toEqual([])
    expect(await look([holding('a'), holding('b')])).toEqual(['quota/a', 'quota/b'])
  })

  test('is told once over a restart, and what was over meanwhile again', async () => {
    const { hook, look, restart } = await setUp()
    hook.behave(503)
    expect(await look([holding('a'), holding('b')])).toHaveLength(2)
    await restart()
    expect(await look([holding('a')])).toEqual([])
    await restart()
    expect(await look([holding('a'), holding('b')])).toEqual(['quota/b'])
  })

  test('is told anew for another period', async () => {
    const { hook, look } = await setUp()
    hook.behave(503)
    expect(await look([holding('a', '80')])).toHaveLength(1)
    expect(await look([holding('a', '80')])).toHaveLength(0)
    expect(await look([holding('a', '100')])).toHaveLength(1)
  })

  test('of which nothing is known is neither over nor told again', async () => {
    const { hook, look, restart, forget } = await setUp()
    hook.behave(503)
    expect(await look([holding('a')])).toHaveLength(1)
    await restart()
    forget(['a'])
    expect(await look([])).toEqual([])
    forget([])
    expect(await look([holding('a')])).toEqual([])
  })

  test('that comes and goes is told once in its quiet time, and after that if it holds still', async () => {
    const { hook, look, pass } = await setUp()
    hook.behave(503)
    const quiet = { quietMs: HOUR }
    expect(await look([holding('a')], quiet)).toHaveLength(1)
    pass(HOUR / 2)
    expect(await look([], quiet)).toEqual([])
    expect(await look([holding('a')], quiet)).toEqual([])
    pass(HOUR / 2)
    expect(await look([holding('a')], quiet)).toHaveLength(1)
    pass(HOUR)
    expect(await look([holding('a')], quiet)).toEqual([])
  })

  test('that holds at the first look is told of only where it is news', async () => {
    const { hook, look, restart } = await setUp()
    hook.behave(503)
    const settled = { isSettled: true as const }
    expect(await look([holding('a')], settled)).toEqual([])
    expect(await look([holding('a'), holding('b')], settled)).toEqual(['quota/b'])
    await restart()
    expect(await look([holding('a'), holding('b'), holding('c')], settled)).toEqual(['quota/c'])
  })

  test('nobody is to be told of waits until somebody is', async () => {
    const { hook, look, rules } = await setUp()
    hook.behave(503)
    rules.receivers = [webhook('one', hook.url, { only: ['storage'] })]
    expect(await look([holding('a')])).toEqual([])
    rules.receivers = [webhook('one', hook.url, { only: ['storage', 'quota'] })]
    expect(await look([holding('a')])).toEqual(['quota/a'])
  })

  test('together with many others is one alert, which says how many more there are', async () => {
    const { hook, look } = await setUp()
    await look(Array.from({ length: 25 }, (_, at) => holding(`k${at}`)))
    await hook.until(1)
    const { data } = JSON.parse(hook.requests[0]?.text ?? '')
    expect([data.items.length, data.more]).toEqual([20, 5])
    expect(hook.requests).toHaveLength(1)
  })
})

describe('what was sent', () => {
  test('is in the audit, and waits no more', async () => {
    const { hook, look, store, alerts } = await setUp()
    await look([holding('a')])
    await hook.until(1)
    await alerts().stop()
    expect(await store().alerts.waiting()).toEqual([])
    const [row] = await store().audit({ limit: 1 })
    const after = { alert: expect.stringMatching(/^alr_/), type: 'quota', text: 'a holds.' }
    expect(row).toMatchObject({ action: 'alert.send', target: 'one', actor: { kind: 'system', id: 'alerts' }, after })
  })

  test('by hand is in the audit under who sent it; what failed is told', async () => {
    const { hook, alerts, rules, store } = await setUp()
    rules.receivers.push(webhook('two', `${hook.url}/two`))
    expect(await alerts().test('one', ACTOR)).toEqual([{ receiver: 'one', ok: true, words: 'it took the test' }])
    expect(await store().audit({ limit: 9 })).toMatchObject([{ action: 'alert.send', target: 'one', actor: ACTOR }])
    hook.behave(404)
    expect(await alerts().test(undefined, ACTOR)).toEqual(
      ['one', 'two'].map((receiver) => ({ receiver, ok: false, words: 'it answers 404' })),
    )
    expect(await store().audit({ limit: 9 })).toHaveLength(1)
  })
})

test('a database that cannot be written keeps no alert from being sent, and learns of it later', async () => {
  const { hook, look, rules, store, alerts, warnings, pass } = await setUp()
  const { tell } = store().alerts
  store().alerts.tell = () => {
    throw new Error('disk full')
  }
  await look([holding('a')])
  await hook.until(1)
  expect(JSON.parse(hook.requests[0]?.text ?? '').data.items).toMatchObject([{ cause: 'quota/a' }])
  expect(warnings).toEqual(['an alert could not be written down: it is tried again'])
  store().alerts.tell = tell
  pass(1_000)
  await look([holding('a')])
  await alerts().stop()
  expect(hook.requests).toHaveLength(1)
  expect(await store().alerts.told()).toMatchObject([{ cause: 'quota/a' }])
  expect(await store().alerts.waiting()).toEqual([])
  expect(rules.receivers).toHaveLength(1)
})
