// The dashboard's queries on a large database: a thread gives what the server's own connection would.

import { afterEach, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { openStore } from '../../src/store/sqlite/index.ts'
import type { InsightQueries } from '../../src/store/sqlite/insight.ts'
import { createInsight } from '../../src/store/sqlite/insight-beside.ts'
import type { Store } from '../../src/store/store.ts'
import { ask, bench, settlement } from '../ledger/support.ts'
import { ACTOR, cleanUp, DAY, HOUR, NOW, newKey, newPath, open } from './support.ts'

afterEach(cleanUp)

const filled = async () => {
  const path = newPath()
  const store = open(path)
  const keys = [1, 2].map(() => store.keys.issue(newKey({ tokensTotal: 1e9 }), ACTOR).key)
  const { ledger, reserve } = bench(store)
  for (let i = 0; i < 40; i++) {
    const key = keys[i % 2]
    if (key === undefined) throw new Error('no key')
    const reservation = await reserve(ask(key))
    if (i % 5 > 0) ledger.settle(reservation, settlement({ outcome: i % 3 === 0 ? 'failed' : 'done' }))
  }
  ledger.flush()
  return { path, store, ids: keys.map(({ id }) => id) }
}

/** Each query in some form. */
const everything = (store: Store, ids: string[]) =>
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
    ...(['model', 'key', 'day'] as const).map((by) => store.insight.usage({ by, sinceMs: NOW - HOUR })),
    store.insight.topKeys({ since: NOW - DAY, until: NOW + DAY, limit: 1, most: 'tokens' }),
    store.insight.hoursKept(NOW - DAY),
    store.insight.exchangePage({ limit: 7 }),
    store.insight.exchangePage({ limit: 7, keyIds: ids.slice(1), outcome: 'failed' }),
    store.insight.latencies({ since: NOW - DAY, until: NOW + DAY }),
  ])

const threaded = (path: string): Store => openStore(path, { clock: () => NOW, large: 0 })

test('a thread answers every query as the own connection does', async () => {
  const { path, store, ids } = await filled()
  const beside = threaded(path)
  try {
    expect(await everything(beside, ids)).toEqual(await everything(store, ids))
  } finally {
    beside.close()
  }
})

test('a large database is not read on the own connection', async () => {
  const { path, ids } = await filled()
  const never = (): never => {
    throw new Error('read on the own connection')
  }
  const own: InsightQueries = {
    ...{ series: never, usage: never, topKeys: never, hoursKept: never, exchangePage: never, latencies: never },
  }
  const order: string[] = []
  const insight = createInsight({ own, path, isLarge: () => true, settle: () => order.push('settled') })
  try {
    expect((await insight.topKeys({ since: 0, until: NOW + DAY, limit: 9, most: 'requests' })).toSorted()).toEqual(
      ids.toSorted(),
    )
    expect(order).toEqual(['settled'])
  } finally {
    insight.stop()
  }
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
      beside.close()
    }
  })
})
