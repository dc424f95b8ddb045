// The store of a server: let go of when the server cannot start, freed of what is past its keeping, its quotas renewed.

import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databasePath, loadConfig } from '../../src/config.ts'
import type { Gateway } from '../../src/gateway.ts'
import { budgetOf, termsOf } from '../../src/keys/budget.ts'
import type { Key } from '../../src/keys/key.ts'
import { beginningOf, RENEWALS, type Renewal } from '../../src/keys/renewal.ts'
import { calendarOf, UTC } from '../../src/lib/calendar.ts'
import { startPruning } from '../../src/server/pruning.ts'
import { startRenewing } from '../../src/server/renewing.ts'
import { startServer } from '../../src/server/serve.ts'
import { openStore } from '../../src/store/sqlite/index.ts'
import { ask, bench, settlement } from '../ledger/support.ts'
import { ACTOR, cleanUp, DAY, NOW, newKey, open } from '../store/support.ts'
import { silentLog } from '../support/silent-log.ts'
import { until } from '../support/until.ts'

afterEach(cleanUp)

const STORED = { keepMs: 30 * DAY, perKey: 1e6, total: 1e9 }
/** Once what was begun has come to rest. */
const turn = (_begun?: unknown): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a server that cannot start', () => {
  const folders: string[] = []
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })
  const configured = (port: number) => {
    const data = mkdtempSync(join(tmpdir(), 'sluice-keeping-'))
    folders.push(data)
    const loaded = loadConfig({ flags: { host: '127.0.0.1', port: String(port), data }, env: {}, cwd: data })
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
    return { data, config: loaded.config }
  }
  const start = (config: ReturnType<typeof configured>['config']) =>
    startServer(config, { err: () => undefined }, { log: silentLog })

  test('because another one runs on its data closes the database', async () => {
    const { data, config } = configured(0)
    const other = openStore(databasePath(config))
    other.journal.claim(() => {})
    await expect(start(config)).rejects.toThrow('Another server is running')
    // The last to close a database takes its log away: were it open elsewhere, it would stay.
    await other.close()
    expect(readdirSync(data).filter((name) => name.startsWith('sluice.db-'))).toEqual([])
  })

  test('because its port is taken releases its data for another one', async () => {
    const taken = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
    try {
      const { data, config } = configured(taken.port ?? 0)
      await expect(start(config)).rejects.toThrow()
      const other = openStore(databasePath(config))
      expect(other.journal.claim(() => {})).toEqual([])
      await other.close()
      expect(readdirSync(data).filter((name) => name.startsWith('sluice.db-'))).toEqual([])
    } finally {
      await taken.stop(true)
    }
  })
})

/** The milliseconds that steps have taken. A busy machine would make them longer, and what is looked for come later. */
const stepping = { ms: 0 }
const stepsTakeNoTime = (): void => {
  let now: ReturnType<typeof spyOn>
  beforeEach(() => {
    now = spyOn(performance, 'now').mockImplementation(() => stepping.ms)
  })
  afterEach(() => now.mockRestore())
}

describe('pruning', () => {
  stepsTakeNoTime()
  /** A store with this many exchanges of ten days ago and as many of today, and what pruning takes of a gateway. */
  const kept = async (each: number) => {
    const time = { at: NOW - 10 * DAY, elapsed: 0 }
    const clock = () => time.at
    const store = open(':memory:', clock)
    const { key } = await store.keys.issue(newKey({ tokensTotal: 1e9 }), ACTOR)
    const { ledger } = bench(store, { clock })
    const record = async (many: number): Promise<void> => {
      const reserving = Array.from({ length: many }, () => ledger.reserve(ask(key)))
      await ledger.flush()
      for (const reservation of await Promise.all(reserving)) ledger.settle(reservation, settlement())
      await ledger.flush()
    }
    for (time.at of [NOW - 10 * DAY, NOW]) await record(each)
    const warned: string[] = []
    const gateway = {
      ...{ store, config: { retentionMs: 5 * DAY, storedAnswers: STORED }, clock, stopwatch: () => time.elapsed },
      log: { warn: (text: string) => warned.push(text) },
      isKeeper: () => true,
    } as unknown as Gateway
    return { store, gateway, warned, time, record }
  }
  test('removes all that is too old, and nothing else', async () => {
    const { store, gateway, warned } = await kept(500)
    const stop = await startPruning(gateway, 1)
    await until(async () => (await store.exchanges({ limit: 1_000 })).length <= 500)
    stop()
    const left = await store.exchanges({ limit: 1_000 })
    expect(left).toHaveLength(500)
    expect(left.every((row) => row.startedAt === NOW)).toBe(true)
    expect((await store.usage({ by: 'day' })).rows.map((row) => row.requests)).toEqual([500, 500])
    expect(warned).toEqual([])
  })

  test('goes on in steps while anything is left, and then stops until the next round', async () => {
    const { store, gateway } = await kept(500)
    const begin = spyOn(globalThis, 'setInterval')
    const pauses = spyOn(globalThis, 'setTimeout')
    // Slow enough for several steps.
    const slow = (before: number, rows: number): Promise<number> => {
      stepping.ms += 1
      return store.prune(before, rows)
    }
    const stop = await startPruning({ ...gateway, store: { ...store, prune: slow } } as unknown as Gateway, 1e9)
    const round = begin.mock.calls[0]?.[0] as () => void
    begin.mockRestore()
    pauses.mockClear()
    round()
    await turn()
    const step = pauses.mock.calls[0]?.[0] as () => void
    const steps = () => pauses.mock.calls.filter(([run]) => run === step).length
    while (steps() < 2) await turn()
    while ((await store.exchanges({ limit: 1_000 })).length > 500) await turn()
    const before = steps()
    await turn(step())
    expect(steps()).toBe(before)
    pauses.mockRestore()
    stop()
  })

  test('waits an hour for a clock that is years ahead, and removes nothing when it is set right', async () => {
    const { store, gateway, warned, time } = await kept(5)
    const begin = spyOn(globalThis, 'setInterval')
    const left = async () => (await store.exchanges({ limit: 100 })).length
    const start = async () => {
      const stop = await startPruning(gateway, 1e9)
      const round = begin.mock.calls.at(-1)?.[0] as () => void
      return { stop, round: () => turn(round()) }
    }
    time.at = NOW + 70 * 365 * DAY
    const first = await start()
    await first.round()
    time.elapsed += 3_599_999
    await first.round()
    expect([await left(), warned.length]).toEqual([10, 1])
    time.at = NOW
    await first.round()
    expect(await left()).toBe(5)
    time.at = NOW + 2 * DAY
    await first.round()
    time.at = NOW + 60 * DAY
    await first.round()
    time.elapsed += 3_600_000
    await first.round()
    expect([await left(), warned.length]).toEqual([0, 2])
    first.stop()
    begin.mockRestore()
  })

  test('doubts a clock that is set ahead as much after months as at the start', async () => {
    const { store, gateway, warned, time } = await kept(5)
    const begin = spyOn(globalThis, 'setInterval')
    const stop = await startPruning(gateway, 1e9)
    const begun = begin.mock.calls.at(-1)?.[0] as () => void
    const round = () => turn(begun())
    begin.mockRestore()
    for (let days = 0; days < 90; days += 30) {
      await round()
      time.at += 30 * DAY
      time.elapsed += 30 * DAY
    }
    await round()
    expect(warned).toEqual([])
    time.at += 31 * DAY
    await round()
    expect(warned).toHaveLength(1)
    expect(await store.exchanges({ limit: 100 })).toEqual([])
    stop()
  })

  test('removes what a clock wrote that was ahead, with its neighbours', async () => {
    const time = { at: NOW }
    const store = open(':memory:', () => time.at)
    const { key } = await store.keys.issue(newKey({ tokensTotal: 1e9, expiresAt: 9e12 }), ACTOR)
    const { ledger } = bench(store, { clock: () => time.at })
    const days = [
      ...Array(10).keys(),
      ...Array<number>(10).fill(25_000),
      ...Array.from({ length: 20 }, (_, i) => 10 + i),
    ]
    for (const day of days) {
      time.at = NOW + day * DAY
      const reserving = ledger.reserve(ask(key))
      await ledger.flush()
      ledger.settle(await reserving, settlement())
      await ledger.flush()
    }
    while ((await store.prune(NOW + 5 * DAY, 7)) === 7);
    expect(await store.exchanges({ limit: 100 })).toHaveLength(35)
    while ((await store.prune(NOW + 25 * DAY, 7)) === 7);
    const left = (await store.exchanges({ limit: 100 })).map(({ startedAt }) => (startedAt - NOW) / DAY)
    expect(left).toEqual([29, 28, 27, 26, 25])
  })

  test.each([
    ['decades behind', 0, 0],
    ['decades behind, and goes on recording', 0, 3],
    ['behind all that is kept', NOW - 40 * DAY, 3],
  ])('removes nothing while the clock is %s', async (_how, at, more) => {
    const { store, gateway, time, record } = await kept(5)
    time.at = at
    await record(more)
    const begin = spyOn(globalThis, 'setInterval')
    const stop = await startPruning(gateway, 1e9)
    const round = begin.mock.calls.at(-1)?.[0] as () => void
    begin.mockRestore()
    round()
    time.elapsed += 7_200_000
    round()
    stop()
    expect(await store.exchanges({ limit: 100 })).toHaveLength(10 + more)
  })

  test('does nothing without a retention time, nor after it is stopped', async () => {
    const { store, gateway } = await kept(50)
    let asked = 0
    const counted = { ...gateway, store: { ...store, prune: () => asked++ } } as unknown as Gateway
    const stop = await startPruning(counted, 1)
    while (asked === 0) await turn()
    stop()
    const before = asked
    for (let i = 0; i < 50; i++) await turn()
    expect(asked).toBe(before)
    const forever = { ...counted, config: { retentionMs: 0, storedAnswers: STORED } } as unknown as Gateway
    const stopForever = await startPruning(forever, 1)
    for (let i = 0; i < 200; i++) await turn()
    stopForever()
    expect(asked).toBe(before)
  })

  test('is left to whoever keeps house for all, until that is this one', async () => {
    const { store, gateway } = await kept(50)
    let asked = 0
    let isKeeper = false
    const one = { ...gateway, store: { ...store, prune: () => asked++ }, isKeeper: () => isKeeper }
    const stop = await startPruning(one as unknown as Gateway, 1)
    for (let i = 0; i < 200; i++) await turn()
    expect(asked).toBe(0)
    isKeeper = true
    while (asked === 0) await turn()
    stop()
  })
})

describe('renewing', () => {
  stepsTakeNoTime()
  /** A store whose clock is told, with keys that were used, and a gateway around it. */
  const used = async (renews: Renewal[], now = NOW) => {
    const time = { now, elapsed: 0 }
    const store = open(':memory:', () => time.now)
    const keys = await Promise.all(
      renews.map(async (each) => (await store.keys.issue(newKey({ renews: each }), ACTOR)).key),
    )
    const { ledger } = bench(store, { clock: () => time.now })
    const use = async (key: Key | undefined): Promise<void> => {
      if (key === undefined) return
      const reserving = ledger.reserve(ask(key))
      await ledger.flush()
      ledger.settle(await reserving, settlement())
      await ledger.flush()
    }
    for (const key of keys) await use(key)
    const warned: string[] = []
    const gateway = {
      ...{ store, config: { calendar: UTC }, clock: () => time.now, stopwatch: () => time.elapsed },
      log: { warn: (text: string) => warned.push(text) },
      isKeeper: () => true,
    } as unknown as Gateway
    return { time, store, keys, use, gateway, warned }
  }
  /** Starts renewing; `look` is what happens every second. */
  const started = async (gateway: Gateway): Promise<{ look: () => Promise<void>; stop: () => void }> => {
    const rounds = spyOn(globalThis, 'setInterval')
    const stop = startRenewing(gateway)
    await turn()
    const begun = rounds.mock.calls[0]?.[0] as () => void
    rounds.mockRestore()
    return { look: () => turn(begun()), stop }
  }
  const counters = (keys: Key[]) => keys.map((key) => key.tokensUsed)
  const USED = 150
  const become = async (keys: Key[], wanted: number[]): Promise<void> => {
    await until(() => String(counters(keys)) === String(wanted))
  }

  test('sets keys back when their time has come, each by the calendar, with a row in the audit', async () => {
    // A Sunday, and not the first of a month.
    const { time, store, keys, gateway } = await used(['day', 'week', 'month'], Date.UTC(2026, 8, 6, 12))
    const { look, stop } = await started(gateway)
    expect(counters(keys)).toEqual([USED, USED, USED])
    time.now = Date.UTC(2026, 8, 6, 23, 59, 59, 999)
    await look()
    expect(counters(keys)).toEqual([USED, USED, USED])
    time.now += 1
    await look()
    await become(keys, [0, 0, USED])
    expect(await store.audit({ limit: 1 })).toMatchObject([
      {
        actor: { kind: 'system', id: 'renewal' },
        action: 'key.renew',
        before: { tokensUsed: USED },
        after: { tokensUsed: 0 },
      },
    ])
    time.now = Date.UTC(2026, 9, 1)
    await look()
    await become(keys, [0, 0, 0])
    stop()
  })

  test.each([
    ['Asia/Phnom_Penh', '2026-10-30T00:00Z', '2026-12-03T00:00Z', { day: 34, week: 5, month: 2 }],
    // Days of 23 and of 25 hours are days.
    ['Europe/Berlin', '2026-03-27T23:30Z', '2026-04-02T00:00Z', { day: 5, week: 1, month: 1 }],
    ['Europe/Berlin', '2026-10-23T22:30Z', '2026-11-01T23:30Z', { day: 9, week: 2, month: 1 }],
    ['America/New_York', '2028-02-27T06:00Z', '2028-03-02T06:00Z', { day: 4, week: 1, month: 1 }],
  ] as const)('sets budgets back with each period of %s, from %s to %s', async (zone, from, to, times) => {
    const calendar = calendarOf(zone) ?? UTC
    const time = { now: Date.parse(from) }
    const store = open(':memory:', () => time.now)
    const bounded = await Promise.all(
      RENEWALS.map(async (renews) => {
        const budget = termsOf({ usd: 100, renews })
        return {
          renews,
          key: (await store.keys.issue(newKey({ budget, tokensTotal: 1e9 }), ACTOR)).key,
          spent: 0,
          begun: 0,
        }
      }),
    )
    const { ledger } = bench(store, { clock: () => time.now })
    const gateway = {
      store,
      config: { calendar },
      clock: () => time.now,
      stopwatch: () => 0,
      log: { warn() {} },
      isKeeper: () => true,
    }
    const { look, stop } = await started(gateway as unknown as Gateway)
    for (; time.now <= Date.parse(to); time.now += 30 * 60_000) {
      await look()
      while (bounded.some(({ key }) => isDue(key.id))) await turn()
      for (const each of bounded) {
        const budget = store.budgets.get(budgetOf('key', each.key.id))
        if (budget === undefined) throw new Error('no budget')
        if (budget.used.microUsd === 0 && each.spent > 0) {
          each.begun++
          each.spent = 0
        }
        expect(budget.used.microUsd).toBe(each.spent)
        const reserving = ledger.reserve(ask(each.key))
        await ledger.flush()
        each.spent += ledger.settle(await reserving, settlement()).costMicroUsd
      }
    }
    stop()
    expect(Object.fromEntries(bounded.map(({ renews, begun }) => [renews, begun]))).toEqual(times)

    function isDue(id: string): boolean {
      const { renews, since = 0 } = store.budgets.get(budgetOf('key', id)) ?? {}
      return renews !== undefined && since < beginningOf(renews, time.now, calendar)
    }
  })

  test('makes up at the start for what became due while no server ran', async () => {
    const { time, keys, gateway } = await used(['month'])
    time.now += 40 * DAY
    const { stop } = await started(gateway)
    await become(keys, [0])
    stop()
  })

  test('gives no new quota while the clock is behind, and believes it after an hour', async () => {
    const { time, keys, gateway } = await used(['day', 'month'])
    const right = time.now
    const { look, stop } = await started(gateway)
    for (const now of [0, right]) {
      time.now = now
      time.elapsed += 3_599_999
      await look()
    }
    expect(counters(keys)).toEqual([USED, USED])
    time.now = right - 40 * DAY
    await look()
    time.elapsed += 3_599_999
    await look()
    expect(counters(keys)).toEqual([USED, USED])
    time.elapsed += 1
    await look()
    await become(keys, [0, 0])
    stop()
  })

  test('leaves what was used since, and writes nothing about keys that nobody used', async () => {
    const { time, store, keys, use, gateway } = await used(['day', 'day'])
    const { look, stop } = await started(gateway)
    time.now += DAY
    await look()
    await become(keys, [0, 0])
    await use(keys[0])
    const rows = (await store.audit({ limit: 100 })).length
    await look()
    expect(counters(keys)).toEqual([USED, 0])
    time.now += DAY
    await look()
    await become(keys, [0, 0])
    expect((await store.audit({ limit: 100 })).length).toBe(rows + 1)
    stop()
  })

  test('goes on after a step that took long, past a key that was revoked meanwhile', async () => {
    const { time, store, keys, gateway } = await used(['day', 'day', 'day', 'day'])
    const { look, stop } = await started(gateway)
    time.now += DAY
    const renew = store.keys.renew
    const renewed: string[] = []
    const slow = spyOn(store.keys, 'renew').mockImplementation((id) => {
      renewed.push(id)
      stepping.ms += 4
      return renew(id)
    })
    const pauses = spyOn(globalThis, 'setTimeout')
    const ends: (() => void)[] = []
    pauses.mockImplementation(((run: () => void) => ({
      unref: () => void ends.push(run),
    })) as unknown as typeof setTimeout)
    await look()
    pauses.mockRestore()
    expect(renewed).toHaveLength(1)
    const other = keys.find(({ id }) => id !== renewed[0]) as Key
    await store.keys.revoke(other.id, ACTOR)
    await look()
    for (const end of ends) end()
    await become(
      keys,
      keys.map((key) => (key === other ? USED : 0)),
    )
    // The look meanwhile has begun no other round.
    expect(renewed).toEqual([...new Set(renewed)])
    slow.mockRestore()
    stop()
  })

  test('goes on with the next round when the database cannot be written, and says so once', async () => {
    const { time, store, keys, gateway, warned } = await used(['day'])
    const { look, stop } = await started(gateway)
    time.now += DAY
    const renew = spyOn(store.keys, 'renew').mockImplementation(() => {
      throw new Error('disk full')
    })
    await look()
    await look()
    expect([counters(keys), warned.length]).toEqual([[USED], 1])
    renew.mockRestore()
    await look()
    await become(keys, [0])
    stop()
  })
})
