// The ledger over a store: durable before it answers, settled once, nothing lost.

import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { budgetOf, termsOf } from '../../src/keys/budget.ts'
import type { Settlement } from '../../src/ledger/ledger.ts'
import { PATIENCE_MS, PAUSE_MS, TRY_MS } from '../../src/store/patience.ts'
import { storeError } from '../../src/store/store.ts'
import type { ExchangeRow } from '../../src/store/usage.ts'
import { ACTOR, cleanUp, NOW, newKey, newPath, open } from '../store/support.ts'
import { until } from '../support/until.ts'
import { ask, bench, PRICE, settlement } from './support.ts'

afterEach(cleanUp)

/** A try at a target, as it is noted. */
const TRY = { provider: 'vendor_a', account: 'main', model: 'vendorA-opus-4-8', wire: 'messages', ms: 7 } as const

const isOpen = ({ outcome }: ExchangeRow): boolean => outcome === null

const setUp = async (tokensTotal = 1_000_000, path = ':memory:', onRefused?: (exchangeId: string) => void) => {
  const store = open(path, () => NOW)
  const { key } = await store.keys.issue(newKey({ tokensTotal }), ACTOR)
  return { store, key, ...bench(store, { onRefused }) }
}

describe('reserve', () => {
  test('answers only once the reservation is in the file', async () => {
    const path = newPath()
    const { ledger, key, turn } = await setUp(1_000, path)
    const request = ask(key)
    let answered = false
    const reserving = ledger.reserve(request).then((reservation) => {
      answered = true
      return reservation
    })
    await Promise.resolve()
    expect(answered).toBe(false)
    turn()
    const reservation = await reserving
    expect(reservation).toEqual({
      exchangeId: request.exchangeId,
      keyId: key.id,
      startedAt: NOW,
      reserved: 1_000,
      outputCap: 900,
    })
    const row = (await open(path).exchanges({ limit: 1 }))[0]
    expect(row).toMatchObject({
      ...{ id: request.exchangeId, keyId: key.id, model: 'vendorA-opus-4-8', wire: 'messages', stream: true },
      ...{ startedAt: NOW, inputEstimate: 100, reserved: 1_000, outcome: null, endedAt: null, input: null },
    })
  })

  test('holds its tokens until it is settled', async () => {
    const { ledger, key, turn } = await setUp(2_000)
    const reserving = ledger.reserve(ask(key))
    expect([ledger.heldBy(key.id), ledger.openCount()]).toEqual([1_100, 1])
    turn()
    ledger.settle(await reserving, settlement())
    expect([ledger.heldBy(key.id), ledger.openCount(), key.tokensUsed]).toEqual([0, 0, 150])
  })

  test('frees tokens that an exchange can no longer use at once, and never holds more for it', async () => {
    const { store, ledger, key, reserve } = await setUp(2_000)
    const reservation = await reserve(ask(key))
    ledger.narrow(reservation, 300)
    expect(ledger.heldBy(key.id)).toBe(300)
    ledger.narrow(reservation, 900)
    expect(ledger.heldBy(key.id)).toBe(300)
    ledger.settle(reservation, settlement())
    expect([ledger.heldBy(key.id), key.tokensUsed]).toEqual([0, 150])
    ledger.narrow(reservation, 1)
    expect(ledger.heldBy(key.id)).toBe(0)
    // The record says what was set aside at first.
    await ledger.flush()
    expect((await store.exchanges({ limit: 1 }))[0]?.reserved).toBe(1_100)
  })

  test('admits only what fits of a thousand requests at once', async () => {
    const { ledger, key, turn } = await setUp(10_500)
    const reserving = Array.from({ length: 1_000 }, () => ledger.reserve(ask(key)))
    turn()
    const results = await Promise.allSettled(reserving)
    const reserved = results.map((result) => (result.status === 'fulfilled' ? result.value.reserved : 0))
    expect(reserved.reduce((sum, each) => sum + each)).toBe(10_500)
    expect(reserved.filter((each) => each > 0)).toHaveLength(10)
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'rate_limit_exceeded' })
    }
  })

  test('writes all reservations of a turn in one transaction', async () => {
    const { ledger, key, turn, writes } = await setUp()
    const before = writes()
    const reserving = Array.from({ length: 50 }, () => ledger.reserve(ask(key)))
    turn()
    const reservations = await Promise.all(reserving)
    expect(writes() - before).toBe(1)
    for (const reservation of reservations) ledger.settle(reservation, settlement())
    turn()
    expect(writes() - before).toBe(2)
    expect(key.tokensUsed).toBe(50 * 150)
  })

  test('answers very many that come together in groups, a turn each', async () => {
    const { ledger, key, turn, last } = await setUp()
    let answered = 0
    const all = Array.from({ length: 300 }, () =>
      ledger.reserve(ask(key, { inputEstimate: 1, outputCap: 1 })).then(() => {
        answered++
      }),
    )
    const groups: number[][] = []
    for (let at = 0; at < 3; at++) {
      turn()
      await new Promise(setImmediate)
      groups.push([last().opened.length, answered])
    }
    expect(groups).toEqual([
      [128, 128],
      [128, 256],
      [44, 300],
    ])
    await Promise.all(all)
  })

  test('answers very many at once when the ledger is flushed', async () => {
    const { ledger, key } = await setUp()
    const all = Array.from({ length: 300 }, () => ledger.reserve(ask(key, { inputEstimate: 1, outputCap: 1 })))
    await ledger.flush()
    expect(await Promise.all(all)).toHaveLength(300)
  })

  test('refuses an exchange that has its reservation already', async () => {
    const { ledger, key } = await setUp()
    const request = ask(key)
    const first = ledger.reserve(request)
    await expect(ledger.reserve(request)).rejects.toThrow('already')
    await ledger.flush()
    expect((await first).exchangeId).toBe(request.exchangeId)
  })

  test('sees a quota changed by another process', async () => {
    const path = newPath()
    const { ledger, store, key, reserve } = await setUp(100, path)
    const cli = open(path)
    await cli.keys.update(key.id, { tokensTotal: 0 }, ACTOR)
    await store.refresh()
    await expect(ledger.reserve(ask(key))).rejects.toMatchObject({ code: 'quota_exhausted' })
    await cli.keys.update(key.id, { tokensTotal: 5_000 }, ACTOR)
    await store.refresh()
    const reserving = reserve(ask(key))
    expect(await reserving).toMatchObject({ outputCap: undefined })
  })
})

describe('settle', () => {
  const endless: JsonObject = {}
  endless.self = endless
  test.each([
    ['cannot be written', endless],
    ['has far more than figures', { input_tokens: 10, note: 'x'.repeat(100_000) }],
  ])('leaves out a provider’s usage object that %s', async (_, rawUsage) => {
    const { ledger, store, key, reserve } = await setUp()
    const reserving = reserve(ask(key))
    ledger.settle(await reserving, settlement({ rawUsage }))
    await ledger.flush()
    expect((await store.exchanges({ limit: 1 }))[0]).toMatchObject({ outcome: 'done', rawUsage: null })
    expect([ledger.openCount(), key.tokensUsed]).toEqual([0, 150])
  })

  test('writes everything that is known of the exchange', async () => {
    const { ledger, store, key, reserve, turn } = await setUp()
    const reserving = reserve(ask(key))
    const usage = { input: 10, cacheRead: 20, cacheWrite: 30, output: 40, reasoning: 15 }
    ledger.settle(
      await reserving,
      settlement({
        ...{ usage, rawUsage: { input_tokens: 10, server_tool_use: null }, provider: 'vendor_a', account: 'main' },
        ...{
          upstreamModel: 'opus-4-8-20260101',
          providerWire: 'responses',
          attempts: 2,
          firstByteMs: 120,
          totalMs: 990.6,
        },
        ...{ outcome: 'failed', status: 502, errorCode: 'upstream_error', estimated: true },
      }),
    )
    turn()
    expect((await store.exchanges({ limit: 1 }))[0]).toMatchObject({
      ...usage,
      ...{ outcome: 'failed', status: 502, errorCode: 'upstream_error', estimated: true, endedAt: NOW },
      ...{ provider: 'vendor_a', account: 'main', upstreamModel: 'opus-4-8-20260101', providerWire: 'responses' },
      ...{ attempts: 2, firstByteMs: 120, totalMs: 991, rawUsage: '{"input_tokens":10,"server_tool_use":null}' },
      costMicroUsd: 1_248,
    })
    expect(key.tokensUsed).toBe(100)
    expect((await store.usage({ by: 'key' })).rows).toEqual([
      {
        ...{
          group: key.id,
          requests: 1,
          errors: 1,
          input: 10,
          cacheRead: 20,
          cacheWrite: 30,
          output: 40,
          reasoning: 15,
        },
        ...{ costMicroUsd: 1_248, feesMicroUsd: 0 },
      },
    ])
  })

  test.each<[string, NonNullable<Settlement['trail']>, boolean]>([
    ['of none', [], false],
    ['of one that answered', [{ ...TRY }], false],
    ['of one that failed', [{ ...TRY, errorCode: 'upstream_error' }], true],
    ['of several', [{ ...TRY, errorCode: 'upstream_error' }, { ...TRY }], true],
  ])('records the attempts that the other columns do not describe: %s', async (_, trail, kept) => {
    const { ledger, store, key, reserve } = await setUp()
    for (const stream of [false, true]) {
      ledger.settle(await reserve(ask(key, { stream })), settlement({ trail }))
      expect((await store.exchanges({ limit: 1 }))[0]).toMatchObject({ stream, trail: kept ? trail : null })
    }
  })

  test('twice throws and counts once', async () => {
    const { ledger, key, reserve, turn } = await setUp()
    const reservation = await reserve(ask(key))
    ledger.settle(reservation, settlement())
    expect(() => ledger.settle(reservation, settlement())).toThrow('settled already')
    turn()
    expect(() => ledger.settle(reservation, settlement())).toThrow('settled already')
    expect(key.tokensUsed).toBe(150)
  })

  test.each([
    ['not a number', Number.NaN, 0],
    ['below zero', -5, 0],
    ['without end', Number.POSITIVE_INFINITY, 0],
    ['more than a column holds', 1e300, 0],
    ['a fraction', 10.4, 10],
  ])('turns a count that is %s into a valid one', async (_what, figure, counted) => {
    const { ledger, store, key, reserve, turn } = await setUp()
    ledger.settle(await reserve(ask(key)), settlement({ usage: { input: figure, output: 7 } }))
    turn()
    expect((await store.exchanges({ limit: 1 }))[0]).toMatchObject({ input: counted, output: 7 })
    expect(key.tokensUsed).toBe(counted + 7)
  })

  test('bills no more as kept for an hour than was written to the cache', async () => {
    const store = open()
    const { key } = await store.keys.issue(newKey(), ACTOR)
    const { ledger, reserve } = bench(store, { prices: () => ({ ...PRICE, cacheWrite1h: 10 }) })
    const usage = { cacheWrite: 10, cacheWrite1h: 40 }
    expect(ledger.settle(await reserve(ask(key)), settlement({ usage })).costMicroUsd).toBe(100)
  })

  test('a count the provider did not give stays unknown in its row and adds nothing to the sums', async () => {
    const { ledger, store, key, reserve, turn } = await setUp()
    ledger.settle(await reserve(ask(key)), settlement({ usage: { output: 3 } }))
    turn()
    expect((await store.exchanges({ limit: 1 }))[0]).toMatchObject({ input: null, cacheRead: null, output: 3 })
    expect((await store.usage({ by: 'model' })).rows[0]).toMatchObject({ input: 0, cacheRead: 0, output: 3 })
  })
})

describe('settlements', () => {
  const reserved = async (count: number, path = ':memory:') => {
    const at = await setUp(1_000_000_000, path)
    const reserving = Array.from({ length: count }, () => at.ledger.reserve(ask(at.key)))
    at.turn()
    at.turn()
    return { ...at, reservations: await Promise.all(reserving) }
  }

  test('are written together at once when there are enough of them', async () => {
    const { ledger, reservations, turn, last, writes } = await reserved(200)
    const before = writes()
    for (const reservation of reservations) ledger.settle(reservation, settlement())
    turn()
    expect(writes() - before).toBe(1)
    expect(last().settled).toHaveLength(200)
  })

  test('are in the file by the end of the turn, with its reservations; their sums wait to be grouped', async () => {
    const path = newPath()
    const { ledger, key, reservations, turn, wait, writes } = await reserved(2, path)
    const before = writes()
    const written = reservations.map((reservation) => ledger.settle(reservation, settlement()).written)
    const next = ledger.reserve(ask(key))
    turn()
    await Promise.all([...written, next])
    expect(writes() - before).toBe(1)
    const other = open(path)
    const outcomes = async () => (await other.exchanges({ limit: 9 })).map((row) => row.outcome)
    expect([await outcomes(), other.keys.get(key.id)?.tokensUsed]).toEqual([[null, 'done', 'done'], 0])
    expect((await other.usage({ by: 'key' })).rows).toEqual([])
    wait()
    expect([await outcomes(), writes() - before]).toEqual([[null, 'done', 'done'], 2])
    await other.refresh()
    expect(other.keys.get(key.id)?.tokensUsed).toBe(300)
  })

  test('are included in reads of the same process, written or not', async () => {
    const { ledger, store, key, reservations } = await reserved(3)
    for (const reservation of reservations) ledger.settle(reservation, settlement())
    expect((await store.exchanges({ limit: 9 })).map((row) => row.outcome)).toEqual(['done', 'done', 'done'])
    expect((await store.usage({ by: 'key' })).rows[0]).toMatchObject({ group: key.id, requests: 3, output: 150 })
  })

  test('do not count after a reset of their key’s counter, written or not', async () => {
    const { ledger, store, key, reservations } = await reserved(2)
    for (const reservation of reservations) ledger.settle(reservation, settlement())
    const used = key.tokensUsed
    expect(used).toBeGreaterThan(0)
    expect((await store.keys.update(key.id, { tokensUsed: 0 }, ACTOR)).tokensUsed).toBe(0)
    await ledger.flush()
    expect(key.tokensUsed).toBe(0)
    expect(await store.audit({ limit: 1 })).toMatchObject([{ before: { tokensUsed: used }, after: { tokensUsed: 0 } }])
  })

  test('of exchanges that began in another order than they ended keep the order of arrival', async () => {
    const { ledger, store, reservations } = await reserved(5)
    const ids = reservations.map(({ exchangeId }) => exchangeId).reverse()
    for (const at of [3, 0, 4, 2]) {
      const reservation = reservations[at]
      if (reservation !== undefined) ledger.settle(reservation, settlement())
      await ledger.flush()
      expect((await store.exchanges({ limit: 9 })).map(({ id }) => id)).toEqual(ids)
    }
  })

  test.each([
    ['one write', true],
    ['two', false],
  ])('leave a key used last when its last exchange began, whichever ended last, in %s', async (_, together) => {
    const time = { now: NOW }
    const store = open(':memory:', () => time.now)
    const { key } = await store.keys.issue(newKey(), ACTOR)
    const { ledger, reserve } = bench(store, { clock: () => time.now })
    const first = await reserve(ask(key))
    time.now += 5
    const second = await reserve(ask(key))
    ledger.settle(second, settlement())
    if (!together) await ledger.flush()
    ledger.settle(first, settlement())
    await ledger.flush()
    expect((await store.lastUsed([key.id])).get(key.id)).toBe(NOW + 5)
  })

  test('are billed at the price of the model that answered', async () => {
    const store = open()
    const { key } = await store.keys.issue(newKey(), ACTOR)
    const prices = { ...PRICE, input: 1, output: 2 }
    const { ledger, reserve } = bench(store, { prices: (model) => (model === 'vendorB-5.5' ? prices : PRICE) })
    ledger.settle(
      await reserve(ask(key, { model: 'vendorA-opus-4-8' })),
      settlement({ model: 'vendorB-5.5', usage: { input: 1_000, output: 100 } }),
    )
    expect((await store.exchanges({ limit: 1 }))[0]).toMatchObject({ model: 'vendorA-opus-4-8', costMicroUsd: 1_200 })
    expect((await store.usage({ by: 'model' })).rows[0]?.costMicroUsd).toBe(1_200)
  })
})

/** A database that takes no answer of so many tokens: no figure of a provider may stand in the way of others. */
const picky = (path: string, table: 'exchanges' | 'usage_hours' | 'reservations', when: string) => {
  const db = new Database(path)
  db.run(`CREATE TRIGGER picky BEFORE ${table === 'reservations' ? 'UPDATE' : 'INSERT'} ON ${table} WHEN ${when}
    BEGIN SELECT RAISE(ABORT, 'no'); END`)
  db.close()
}

describe('what the database refuses', () => {
  test.each([
    ['a row', 'exchanges', 'NEW.output = 666'],
    ['a sum', 'usage_hours', 'NEW.output >= 666'],
  ] as const)('of %s holds up no other: it is settled by what was set aside', async (_, table, when) => {
    const path = newPath()
    const told: unknown[] = []
    const { store, key, ledger, reserve, turn, wait } = await setUp(1_000_000, path, (id) => told.push(id))
    picky(path, table, when)
    const reservations = []
    for (let i = 0; i < 9; i++) reservations.push(await reserve(ask(key, { outputCap: i === 4 ? 10 : 100 })))
    const written = reservations.map(
      (reservation, i) =>
        ledger.settle(reservation, settlement({ usage: { input: 100, output: i === 4 ? 666 : 7 } })).written,
    )
    turn()
    await Promise.all(written)
    wait()
    expect(ledger.isStuck()).toBe(false)
    expect(told).toEqual([reservations[4]?.exchangeId])
    const rows = (await store.exchanges({ limit: 9 })).reverse()
    expect(rows.map(({ output, estimated }) => [output, estimated])).toEqual(
      reservations.map((_, i) => (i === 4 ? [10, true] : [7, false])),
    )
    const total = 9 * 100 + 8 * 7 + 10
    expect([key.tokensUsed, open(path).keys.get(key.id)?.tokensUsed]).toEqual([total, total])
    const [sums] = (await store.usage({ by: 'key' })).rows
    expect([sums?.requests, (sums?.input ?? 0) + (sums?.output ?? 0)]).toEqual([9, total])
  })

  test('however small it is made waits alone, and is tried again', async () => {
    const path = newPath()
    const { store, key, ledger, reserve, turn, wait } = await setUp(1_000_000, path)
    picky(path, 'exchanges', `NEW.model = 'cursed'`)
    const [cursed, other] = [await reserve(ask(key, { model: 'cursed' })), await reserve(ask(key))]
    ledger.settle(cursed, settlement())
    const { written } = ledger.settle(other, settlement())
    turn()
    await written
    expect([ledger.isStuck(), ledger.openCount()]).toEqual([true, 1])
    await reserve(ask(key))
    await expect(ledger.flush()).rejects.toThrow('no')
    const db = new Database(path)
    db.run('DROP TRIGGER picky')
    db.close()
    wait()
    expect([ledger.isStuck(), ledger.openCount()]).toEqual([false, 1])
    const outcomes = (await store.exchanges({ limit: 9 })).map(({ model, outcome }) => [model, outcome])
    expect(outcomes).toContainEqual(['cursed', 'done'])
    expect(store.keys.get(key.id)?.tokensUsed).toBe(300)
  })

  test('of progress does not keep that of others', async () => {
    const path = newPath()
    const { store, key, ledger, reserve, wait } = await setUp(1_000_000, path)
    picky(path, 'reservations', 'NEW.output = 666')
    for (const output of [1, 666, 2]) ledger.progress(await reserve(ask(key)), { output })
    wait()
    expect((await store.exchanges({ limit: 9 })).map(({ output }) => output)).toEqual([2, null, 1])
  })
})

describe('a store that cannot write', () => {
  test('refuses reservations and frees what they held', async () => {
    const { ledger, key, reserve, failing } = await setUp()
    failing(true)
    const reserving = reserve(ask(key))
    await expect(reserving).rejects.toMatchObject({ code: 'service_unavailable', retryAfterMs: 1_000 })
    expect([ledger.heldBy(key.id), ledger.openCount()]).toEqual([0, 0])
  })

  test('is told of where nothing was tried, as its disk has room for what is open alone', async () => {
    const store = open(':memory:', () => NOW)
    const { key } = await store.keys.issue(newKey({}), ACTOR)
    const shortage = storeError('The disk has room left only for ending the requests that are open; make room.')
    store.journal.shortage = () => shortage
    const told: unknown[] = []
    const { reserve, ledger } = bench(store, { onFailure: (cause) => told.push(cause) })
    await expect(reserve(ask(key))).rejects.toMatchObject({ code: 'service_unavailable', cause: shortage })
    expect([told, ledger.isStuck()]).toEqual([[shortage], true])
  })

  test('loses no settlement: it is written when writing works again, by itself', async () => {
    const path = newPath()
    const { ledger, key, reserve, turn, wait, failing } = await setUp(1_000_000, path)
    const reservation = await reserve(ask(key))
    // To read in this process writes what is settled; to read in another does not.
    const other = open(path)
    const outcome = async () => (await other.exchanges({ limit: 1 }))[0]?.outcome
    failing(true)
    const { written } = ledger.settle(reservation, settlement())
    turn()
    // No answer is held for longer than patience lasts, whatever becomes of its settlement.
    const held = Promise.race([written.then(() => 'let go'), turnOver().then(() => 'held')])
    expect(await held).toBe('held')
    for (let waits = 0; waits < 3; waits++) wait()
    await written
    expect([await outcome(), ledger.openCount(), ledger.openCount(new Set([key.id]))]).toEqual([null, 1, 1])
    failing(false)
    wait()
    expect([await outcome(), ledger.openCount()]).toEqual(['done', 0])
    expect((await other.usage({ by: 'key' })).rows[0]?.requests).toBe(1)
    expect(key.tokensUsed).toBe(150)
  })

  test('writes waiting settlements with the first reservation that succeeds again', async () => {
    const path = newPath()
    const { ledger, key, reserve, turn, wait, failing } = await setUp(1_000_000, path)
    const reservation = await reserve(ask(key))
    failing(true)
    ledger.settle(reservation, settlement())
    wait()
    failing(false)
    const next = ledger.reserve(ask(key))
    turn()
    await next
    expect((await open(path).exchanges({ limit: 9 })).map(({ outcome }) => outcome)).toEqual([null, 'done'])
  })

  describe('because another process is writing', () => {
    const besideAWriter = async () => {
      const path = newPath()
      const set = await setUp(1_000_000, path)
      const other = new Database(path)
      other.run('BEGIN IMMEDIATE')
      const end = () => {
        other.run('ROLLBACK')
        other.close()
      }
      return { ...set, end }
    }

    test('records waiting reservations in order once the other has finished', async () => {
      const { ledger, store, key, turn, wait, end } = await besideAWriter()
      const asked = [ask(key), ask(key), ask(key)]
      const reserving = asked.map((each) => ledger.reserve(each))
      turn()
      wait()
      end()
      wait()
      const made = await Promise.all(reserving)
      expect(made.map(({ exchangeId }) => exchangeId)).toEqual(asked.map(({ exchangeId }) => exchangeId))
      const rows = (await store.exchanges({ limit: 9 })).map(({ id }) => id)
      expect(rows.reverse()).toEqual(asked.map(({ exchangeId }) => exchangeId))
    })

    test('pauses between tries: new reservations meanwhile cause none', async () => {
      const { ledger, key, reserve, turn, wait, attempts, end } = await besideAWriter()
      const first = ledger.reserve(ask(key))
      turn()
      const before = attempts()
      const more = Array.from({ length: 20 }, () => {
        return reserve(ask(key))
      })
      expect(attempts()).toBe(before)
      end()
      wait()
      expect(attempts()).toBe(before + 1)
      expect(await Promise.all([first, ...more])).toHaveLength(21)
    })

    test('does not try again for reads, which would use up the tries of waiting reservations', async () => {
      const { store, key, reserve, wait, attempts, end } = await besideAWriter()
      const reserving = reserve(ask(key))
      const before = attempts()
      for (let reads = 0; reads < 12; reads++) await store.usage({ by: 'model' })
      expect(attempts()).toBe(before)
      end()
      wait()
      expect(await reserving).toMatchObject({ keyId: key.id })
    })

    test('a counter that is reset has nothing of what was settled before, and is not reset while that cannot be written', async () => {
      const path = newPath()
      const { ledger, store, key, turn, wait } = await setUp(1_000_000, path)
      const reserving = ledger.reserve(ask(key))
      turn()
      const reservation = await reserving
      const other = new Database(path)
      other.run('BEGIN IMMEDIATE')
      ledger.settle(reservation, settlement())
      wait()
      const reset = () => store.keys.update(key.id, { tokensUsed: 0 }, ACTOR)
      expect(reset).toThrow(/kept busy by another program/)
      other.run('ROLLBACK')
      other.close()
      expect((await reset()).tokensUsed).toBe(0)
      wait()
      expect([key.tokensUsed, open(path).keys.get(key.id)?.tokensUsed]).toEqual([0, 0])
    })

    test('refuses a reservation after some tries and frees what it held', async () => {
      const { ledger, key, reserve, wait, attempts, end } = await besideAWriter()
      const reserving = reserve(ask(key))
      for (let waits = 0; waits < 12; waits++) wait()
      await expect(reserving).rejects.toMatchObject({ code: 'service_unavailable', retryAfterMs: 1_000 })
      expect([ledger.heldBy(key.id), ledger.openCount()]).toEqual([0, 0])
      expect(attempts()).toBeGreaterThan(5)
      end()
    })
  })

  test('writes nothing in part beside another process that is writing, and a flush fails once patience is over', async () => {
    const path = newPath()
    const { ledger, store, key, attempts } = await setUp(1_000_000, path)
    const reserving = ledger.reserve(ask(key))
    await ledger.flush()
    const reservation = await reserving
    const other = new Database(path)
    other.run('BEGIN IMMEDIATE')
    ledger.settle(reservation, settlement())
    const before = attempts()
    await expect(ledger.flush()).rejects.toThrow(/kept busy by another program/)
    expect(attempts()).toBe(before + PATIENCE_MS / (TRY_MS + PAUSE_MS))
    other.run('ROLLBACK')
    other.close()
    await ledger.flush()
    expect(await store.exchanges({ limit: 9 })).toHaveLength(1)
    await store.close()
    expect(open(path).keys.get(key.id)?.tokensUsed).toBe(150)
  })
})

describe('after a kill', () => {
  const killed = async (progress: boolean) => {
    const path = newPath()
    const before = await setUp(1_000_000, path)
    const reserving = before.ledger.reserve(ask(before.key))
    before.turn()
    const reservation = await reserving
    if (progress) {
      before.ledger.progress(reservation, { input: 90, output: 10 })
      before.ledger.progress(reservation, { input: 90, output: 20, reasoning: 5 })
      before.wait()
      before.ledger.progress(reservation, { input: 90, output: 999 })
    }
    await before.store.close()
    return { path, keyId: before.key.id }
  }

  test('an open exchange is settled once, from its last durable progress', async () => {
    const { path, keyId } = await killed(true)
    for (let start = 0; start < 2; start++) {
      const store = open(path, () => NOW + 5_000)
      expect(bench(store, { clock: () => NOW + 5_000 }).ledger.recovered).toBe(start === 0 ? 1 : 0)
      expect(await store.exchanges({ limit: 9 })).toHaveLength(1)
      expect((await store.exchanges({ limit: 9 }))[0]).toMatchObject({
        ...{ outcome: 'failed', estimated: true, errorCode: 'internal_error', status: null, endedAt: NOW + 5_000 },
        ...{ input: 90, output: 20, reasoning: 5, cacheRead: null, costMicroUsd: 90 * 5 + 20 * 25 },
      })
      expect(store.keys.get(keyId)?.tokensUsed).toBe(110)
      expect((await store.usage({ by: 'key' })).rows[0]).toMatchObject({
        requests: 1,
        errors: 1,
        input: 90,
        output: 20,
      })
      await store.close()
    }
  })

  test('an exchange without progress is settled by the estimate of its prompt', async () => {
    const { path, keyId } = await killed(false)
    const store = open(path)
    expect(bench(store).ledger.openCount()).toBe(0)
    expect(await store.exchanges({ limit: 9 })).toMatchObject([
      { outcome: 'failed', input: 100, output: 0, estimated: true },
    ])
    expect(store.keys.get(keyId)?.tokensUsed).toBe(100)
  })

  test('what is billed by the piece survives: the pictures it asked for, and the calls that were told', async () => {
    const perImage = { '1024x1024': 0.04, default: 0.2 }
    const path = newPath()
    const { store, key, ledger, reserve, wait } = await setUp(1_000_000, path)
    await reserve(ask(key, { wire: 'images', pictures: { count: 3, size: '1024x1024' } }))
    const searching = await reserve(ask(key))
    ledger.progress(searching, { input: 90, output: 10 }, { web_search: 2 })
    wait()
    ledger.progress(searching, { input: 90, output: 10 }, { web_search: 9 })
    await store.close()
    for (let start = 0; start < 2; start++) {
      const again = open(path)
      bench(again, { prices: () => ({ ...PRICE, perImage }) })
      const rows = (await again.exchanges({ limit: 9 })).map((row) => [
        row.serverTools,
        row.feesMicroUsd,
        row.costMicroUsd,
      ])
      expect(rows).toEqual([
        [{ web_search: 2 }, 20_000, 20_000 + 90 * 5 + 10 * 25],
        [null, 120_000, 120_000 + 100 * 5],
      ])
      expect((await again.usage({ by: 'key' })).rows).toMatchObject([
        { feesMicroUsd: 140_000, costMicroUsd: 141_200, serverTools: { web_search: 2 } },
      ])
      await again.close()
    }
  })

  test('a settlement whose sums were not added is added to them once, by its own figures', async () => {
    const path = newPath()
    const { store, key, ledger, reserve, turn } = await setUp(1_000_000, path)
    const usage = { input: 30, cacheRead: 4, output: 9, reasoning: 2 }
    const serverTools = { web_search: 2 }
    const { written, costMicroUsd } = ledger.settle(await reserve(ask(key)), settlement({ usage, serverTools }))
    turn()
    await written
    // A process that ends here has written no sums; whoever reads beside it sees the exchange once, and as it ended.
    expect(await open(path).exchanges({ limit: 9 })).toMatchObject([{ outcome: 'done', ...usage }])
    expect((await open(path).insight.exchangePage({ limit: 9 })).rows).toMatchObject([{ outcome: 'done', ...usage }])
    store.journal.write = () => undefined
    await store.close()
    for (let start = 0; start < 2; start++) {
      const again = open(path)
      expect(bench(again).ledger.recovered).toBe(0)
      expect(await again.exchanges({ limit: 9 })).toMatchObject([
        { outcome: 'done', ...usage, estimated: false, costMicroUsd },
      ])
      expect(again.keys.get(key.id)?.tokensUsed).toBe(43)
      for (const by of ['key', 'day', 'model'] as const) {
        expect((await again.usage({ by })).rows).toMatchObject([
          { requests: 1, errors: 0, ...usage, costMicroUsd, serverTools },
        ])
      }
      await again.close()
    }
  })

  test('the command line leaves open exchanges alone', async () => {
    const { path } = await killed(true)
    await open(path).close()
    expect((await open(path).exchanges({ limit: 9 })).filter(isOpen)).toHaveLength(1)
  })

  test('a process killed by the system loses only settlements of the last moment', async () => {
    const path = newPath()
    const at = (file: string) => JSON.stringify(new URL(`../../src/${file}`, import.meta.url).pathname)
    const child = Bun.spawn(
      [
        'bun',
        '-e',
        `import { openStore } from ${at('store/sqlite/index.ts')}
        import { createLedger } from ${at('ledger/create.ts')}
        const store = openStore(${JSON.stringify(path)})
        const ledger = createLedger({ store, clock: Date.now, prices: () => () => undefined })
        const { key } = await store.keys.issue(${JSON.stringify(newKey({ expiresAt: 4e12 }))}, { kind: 'cli', id: 'x' })
        const ask = { key, model: 'm', wire: 'messages', stream: true, inputEstimate: 1, outputCap: 1, maxOutput: 1 }
        for (let i = 0; ; i++) {
          const reservation = await ledger.reserve({ ...ask, exchangeId: 'req_' + i })
          if (i === 200) { console.log('open'); for await (const _ of Bun.stdin.stream()) {} ; process.exit() }
          ledger.settle(reservation, { outcome: 'done', usage: { output: 1 }, estimated: false, status: 200, attempts: 1, totalMs: 1 })
        }`,
      ],
      { stdin: 'pipe', stdout: 'pipe', stderr: 'ignore' },
    )
    try {
      const { value } = await child.stdout.getReader().read()
      expect(new TextDecoder().decode(value)).toContain('open')
      // Nobody but the process itself writes what waits there.
      const other = open(path)
      await until(async () => (await other.exchanges({ limit: 300 })).filter((row) => !isOpen(row)).length >= 200)
    } finally {
      child.kill('SIGKILL')
      await child.exited
    }
    const store = open(path)
    bench(store)
    expect(store.keys.list()[0]?.tokensUsed).toBe(201)
    expect((await store.usage({ by: 'model' })).rows[0]).toMatchObject({
      requests: 201,
      errors: 1,
      input: 1,
      output: 200,
    })
  })
})

const turnOver = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('progress of many exchanges waits to be written together', async () => {
  const { ledger, store, key, turn, wait, writes } = await setUp()
  const reserving = Array.from({ length: 20 }, () => ledger.reserve(ask(key)))
  turn()
  const reservations = await Promise.all(reserving)
  const before = writes()
  for (const reservation of reservations) {
    for (let output = 1; output < 50; output++) ledger.progress(reservation, { output })
  }
  wait()
  expect(writes() - before).toBe(1)
  for (const row of await store.exchanges({ limit: 20 })) expect(row.output).toBe(49)
})

test('progress goes on being written, and is tried again by itself where the database refused it', async () => {
  const { ledger, store, key, reserve, wait, failing } = await setUp()
  const reservation = await reserve(ask(key))
  const written = async () => (await store.exchanges({ limit: 1 }))[0]?.output
  const seen = await Promise.all(
    [1, 2, 3].map((output) => {
      ledger.progress(reservation, { output })
      wait()
      return written()
    }),
  )
  expect(seen).toEqual([1, 2, 3])
  failing(true)
  ledger.progress(reservation, { output: 4 })
  wait()
  failing(false)
  wait()
  expect(await written()).toBe(4)
})

test('progress of very many is written in several groups, and all of it when the ledger is flushed', async () => {
  const { ledger, store, key, turn, wait, last } = await setUp()
  const reserving = Array.from({ length: 200 }, () => ledger.reserve(ask(key, { maxOutput: 10 })))
  turn()
  turn()
  const reservations = await Promise.all(reserving)
  const written = async () => (await store.exchanges({ limit: 300 })).filter(({ output }) => output === 7).length
  for (const reservation of reservations) ledger.progress(reservation, { output: 7 })
  wait()
  const first = last().progressed.length
  expect([first < 100, await written()]).toEqual([true, first])
  for (let waits = 0; waits < 10; waits++) wait()
  expect(await written()).toBe(200)
  for (const reservation of reservations) ledger.progress(reservation, { output: 8 })
  await ledger.flush()
  expect((await store.exchanges({ limit: 300 })).filter(({ output }) => output === 8)).toHaveLength(200)
})

test('two ledgers never share a store', async () => {
  const { store } = await setUp()
  expect(() => bench(store)).toThrow('already has its ledger')
})

test('fees of calls are in the cost, in sums and in budgets, and told apart on the row, by the model that answered', async () => {
  const store = open()
  const { key } = await store.keys.issue(newKey({ budget: termsOf({ usd: 5 }) }), ACTOR)
  const { perCall: _, ...plain } = PRICE
  const { ledger, reserve } = bench(store, { prices: (id) => (id === 'searcher' ? PRICE : plain) })
  const calls = { web_search: 20, web_fetch: 3 }
  ledger.settle(await reserve(ask(key)), settlement({ serverTools: calls, model: 'searcher' }))
  ledger.settle(await reserve(ask(key)), settlement({ serverTools: calls }))
  await ledger.flush()
  const tokens = 100 * 5 + 50 * 25
  expect(
    (await store.exchanges({ limit: 2 })).map(({ costMicroUsd, feesMicroUsd }) => [costMicroUsd, feesMicroUsd]),
  ).toEqual([
    [tokens, null],
    [tokens + 200_000, 200_000],
  ])
  expect((await store.usage({ by: 'key' })).rows).toMatchObject([
    { costMicroUsd: 2 * tokens + 200_000, feesMicroUsd: 200_000 },
  ])
  expect(store.budgets.get(budgetOf('key', key.id))?.used.microUsd).toBe(2 * tokens + 200_000)
})
