// Refusals of several nodes: the latest of each key, all of them counted, and no node in another's way.

import { afterEach, describe, expect, test } from 'bun:test'
import { KEPT_OF_KEY, type RefusedCount } from '../../../src/store/refusals.ts'
import { postgresMissing } from '../../support/postgres.ts'
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
    await Promise.all(turns.map((turn) => nodes[turn % 3]?.refusals.write([], counts(turn))))
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
    await node.refusals.write([odd], [])
    const many = Array.from({ length: KEPT_OF_KEY + 60 }, (_, i) => refusalOf({ id: `many${i}` }))
    for (let at = 0; at < many.length; at += 530) await node.refusals.write(many.slice(at, at + 530), [])
    const [kept] = await node.client.query(
      `SELECT path, model, tag, address, told FROM refusals WHERE key_id = 'key_b'`,
    )
    expect(kept).toEqual({ path: odd.path, model: 'm,n', tag: "it's", address: '::1', told: 'Too many.' })
    const left = await node.client.query<{ id: string }>(`SELECT id FROM refusals WHERE key_id = 'key_a' ORDER BY row`)
    expect(left.map(({ id }) => id)).toEqual(many.slice(60).map(({ id }) => id))
  })
})
