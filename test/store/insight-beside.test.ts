// The dashboard's queries on a large database: a thread gives what the server's own connection would.

import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { UTC } from '../../src/lib/calendar.ts'
import { openStore } from '../../src/store/sqlite/index.ts'
import { answerBeside, type InsightQueries } from '../../src/store/sqlite/insight.ts'
import { createInsight } from '../../src/store/sqlite/insight-beside.ts'
import type { SqliteStore } from '../../src/store/store.ts'
import { ask, bench, settlement } from '../ledger/support.ts'
import { ACTOR, cleanUp, DAY, HOUR, NOW, newKey, newPath, open } from './support.ts'

afterEach(cleanUp)

const filled = async () => {
  const path = newPath()
  const store = open(path)
  const keys = await Promise.all(
    [1, 2].map(async () => (await store.keys.issue(newKey({ tokensTotal: 1e9 }), ACTOR)).key),
  )
  const { ledger, reserve } = bench(store)
  for (let i = 0; i < 40; i++) {
    const key = keys[i % 2]
    if (key === undefined) throw new Error('no key')
    const reservation = await reserve(ask(key))
    if (i % 5 > 0) ledger.settle(reservation, settlement({ outcome: i % 3 === 0 ? 'failed' : 'done' }))
  }
  await ledger.flush()
  return { path, store, ids: keys.map(({ id }) => id) }
}

/** Each query in some form. */
const everything = (store: SqliteStore, ids: string[]) =>
  Promise.all([
    ...(['none', 'model', 'key'] as const).map((by) =>
      store.insight.series({
        step: 'hour',
        by,
        since: NOW - DAY,
        until: NOW + DAY,
        keyIds: by === 'key' ? ids : undefined,
      }),
    ),
    store.insight.shares({ step: 'day', since: NOW - DAY, until: NOW + DAY, keyIds: ids.slice(0, 1) }),
    ...(['model', 'key', 'day'] as const).map((by) => store.insight.usage({ by, sinceMs: NOW - HOUR })),
    store.insight.topKeys({ since: NOW - DAY, until: NOW + DAY, limit: 1, most: 'tokens' }),
    store.insight.hoursKept(NOW - DAY),
    store.insight.exchangePage({ limit: 7 }),
    store.insight.exchangePage({ limit: 7, keyIds: ids.slice(1), outcome: 'failed' }),
    store.insight.latencies({ since: NOW - DAY, until: NOW + DAY }),
    store.insight.unfinished({ since: NOW - DAY, until: NOW + DAY, keyIds: ids.slice(0, 1) }),
  ])

const threaded = (path: string): SqliteStore => openStore(path, { clock: () => NOW, large: 0 })

test('a thread answers every query as the own connection does', async () => {
  const { path, store, ids } = await filled()
  const beside = threaded(path)
  try {
    expect(await everything(beside, ids)).toEqual(await everything(store, ids))
  } finally {
    await beside.close()
  }
})

test('a large database is not read on the own connection', async () => {
  const { path, ids } = await filled()
  const never = (): never => {
    throw new Error('read on the own connection')
  }
  const own: InsightQueries = {
    ...{
      series: never,
      shares: never,
      usage: never,
      topKeys: never,
      hoursKept: never,
      exchangePage: never,
      latencies: never,
      refused: never,
      unfinished: never,
      lately: never,
    },
  }
  const order: string[] = []
  const insight = createInsight({ own, path, calendar: UTC, isLarge: () => true, settle: () => order.push('settled') })
  try {
    expect((await insight.topKeys({ since: 0, until: NOW + DAY, limit: 9, most: 'requests' })).toSorted()).toEqual(
      ids.toSorted(),
    )
    expect(order).toEqual(['settled'])
  } finally {
    insight.stop()
  }
})

describe('what settles while a query is read', () => {
  /** An exchange that ended, three in flight, and a reader that finds them settled at its first statement of that kind. */
  const settledAt = async (statement: string) => {
    const path = newPath()
    const store = open(path)
    const { key } = await store.keys.issue(newKey(), ACTOR)
    const { ledger, reserve } = bench(store)
    ledger.settle(await reserve(ask(key)), settlement())
    await ledger.flush()
    const left = await Promise.all([1, 2, 3].map(() => reserve(ask(key))))
    const db = new Database(path, { readonly: true })
    const query = db.query.bind(db)
    db.query = ((text: string) => {
      if (text.includes(statement)) {
        for (const reservation of left.splice(0)) ledger.settle(reservation, settlement())
        void ledger.flush()
      }
      return query(text)
    }) as typeof db.query
    return { db, key }
  }

  test('is missing from no page', async () => {
    const { db } = await settledAt('from "reservations"')
    expect(answerBeside(db, 'exchangePage', { limit: 9 }, UTC).rows.map(({ row }) => row)).toEqual([4, 3, 2, 1])
    db.close()
  })

  test('counts as no other key’s', async () => {
    const { db, key } = await settledAt('FROM usage_models')
    const range = { step: 'hour', since: NOW - DAY, until: NOW + DAY } as const
    const { ofKeys, ofAll } = answerBeside(db, 'shares', { ...range, keyIds: [key.id] }, UTC)
    expect([ofKeys, ofAll].map((rows) => rows.map(({ requests }) => requests))).toEqual([[1], [1]])
    db.close()
  })
})

describe('the own connection answers', () => {
  test('where the thread finds no database', async () => {
    const { path, store, ids } = await filled()
    const before = await everything(store, ids)
    const beside = threaded(path)
    try {
      for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`)
      expect(await everything(beside, ids)).toEqual(before)
    } finally {
      await beside.close()
    }
  })
})
