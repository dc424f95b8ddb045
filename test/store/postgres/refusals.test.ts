// Refusals of several nodes: the latest of each key, all of them counted, and no node in another's way.

import { afterEach, describe, expect, test } from 'bun:test'
import type { Client } from '../../../src/store/postgres/client.ts'
import { createRefusals } from '../../../src/store/postgres/refusals.ts'
import { failure } from '../../../src/store/postgres/trouble.ts'
import { KEPT_OF_KEY, type RefusedCount } from '../../../src/store/refusals.ts'
import { postgresMissing } from '../../support/postgres.ts'
import { gate } from '../../support/provider/scripted.ts'
import { HOUR, NOW, refusalOf } from '../support.ts'
import { dropAll, newDatabase, nodeOn } from './support.ts'

afterEach(dropAll)

describe.skipIf(postgresMissing !== undefined)('refusals of several nodes', () => {
  test('are counted by key, hour and code and over all keys, whichever nodes write at once', async () => {
    const url = await newDatabase()
    const nodes = await Promise.all([nodeOn(url), nodeOn(url), nodeOn(url)])
    const keys = ['key_a', 'key_b', 'key_c']
    const counts = (turn: number): RefusedCount[] =>
      Array.from({ length: 6 }, (_, i) => ({
        ...{
          keyId: keys[(turn + i) % 3] ?? '',
          hour: NOW - (i % 2) * HOUR,
          code: `code ${(turn * i) % 2}`,
          count: i + 1,
        },
      }))
    const turns = Array.from({ length: 24 }, (_, turn) => turn)
    await Promise.all(turns.map((turn) => nodes[turn % 3]?.refusals.write({ refusals: [], counts: counts(turn) })))
    const expected = new Map<string, number>()
    for (const { keyId, hour, code, count } of turns.flatMap(counts))
      for (const of of [keyId, '']) {
        const name = `${of}|${hour}|${code}`
        expected.set(name, (expected.get(name) ?? 0) + count)
      }
    const rows = await nodes[0]?.client.query<{ name: string; count: number }>(
      `SELECT key_id || '|' || hour || '|' || code AS name, count FROM refused_hours`,
    )
    expect(new Map(rows?.map(({ name, count }) => [name, count]))).toEqual(expected)
  })

  test('are kept as they were told, the latest of each key', async () => {
    const node = await nodeOn(await newDatabase())
    const odd = refusalOf({
      id: 'odd',
      keyId: 'key_b',
      path: '/v1/"x",{\\}',
      model: 'm,n',
      tag: "it's",
      address: '::1',
    })
    await node.refusals.write({ refusals: [odd], counts: [] })
    const many = Array.from({ length: KEPT_OF_KEY + 60 }, (_, i) => refusalOf({ id: `many${i}` }))
    for (let at = 0; at < many.length; at += 530)
      await node.refusals.write({ refusals: many.slice(at, at + 530), counts: [] })
    const [kept] = await node.client.query(
      `SELECT path, model, tag, address, told FROM refusals WHERE key_id = 'key_b'`,
    )
    expect(kept).toEqual({ path: odd.path, model: 'm,n', tag: "it's", address: '::1', told: 'Too many.' })
    const left = await node.client.query<{ id: string }>(`SELECT id FROM refusals WHERE key_id = 'key_a' ORDER BY row`)
    expect(left.map(({ id }) => id)).toEqual(many.slice(60).map(({ id }) => id))
  })

  /** What becomes of a transaction of whose end nothing is heard. */
  const LOST: Record<string, (client: Client, commits: Promise<void>) => Client['begin']> = {
    'is not carried out': (client) => (run) =>
      client.begin(async (tx) => {
        await run(tx)
        throw lost()
      }),
    'is carried out': (client) => async (run) => {
      await client.begin(run)
      throw lost()
    },
    'is carried out later': (client, commits) => (run) =>
      new Promise((_, reject) => {
        const holding = client.begin(async (tx) => {
          await run(tx)
          reject(lost())
          await commits
        })
        holding.catch(reject)
      }),
  }

  test.each(Object.entries(LOST))('are written once where nothing is heard of the end of what %s', async (_, way) => {
    const { client } = await nodeOn(await newDatabase())
    const commits = gate()
    let begin = way(client, commits.opened)
    const store = createRefusals({ begin: (...asked) => begin(...asked) }, () => undefined)
    const group = (...ids: string[]) => ({
      refusals: ids.map((id) => refusalOf({ id })),
      counts: [{ keyId: 'key_a', hour: NOW, code: 'c', count: ids.length }],
    })
    const said = group('one', 'two')
    await expect(store.write(said)).rejects.toThrow('nothing was heard')
    begin = client.begin
    const again = store.write(said)
    commits.open()
    await again
    await store.write(group('three'))
    expect(await client.query('SELECT id FROM refusals ORDER BY row')).toEqual(
      ['one', 'two', 'three'].map((id) => ({ id })),
    )
    expect(await client.query('SELECT key_id AS "keyId", count FROM refused_hours ORDER BY 1')).toEqual([
      { keyId: '', count: 3 },
      { keyId: 'key_a', count: 3 },
    ])
  })
})

const lost = (): Error => failure('unknown', 'nothing was heard')
