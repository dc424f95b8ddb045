// Kept answers of several nodes at once: nothing is counted twice or lost, and nobody waits for who waits for them.

import { afterEach, describe, expect, test } from 'bun:test'
import type { Bounds } from '../../../src/ledger/kept-answers.ts'
import { createKeptAnswers } from '../../../src/store/postgres/kept-answers.ts'
import type { PostgresStore } from '../../../src/store/postgres/open.ts'
import { failure } from '../../../src/store/postgres/trouble.ts'
import { postgresMissing } from '../../support/postgres.ts'
import { dropAll, newDatabase, nodeOn } from './support.ts'

afterEach(dropAll)

const WIDE: Bounds = { perKey: 1e9, total: 1e9 }

/** What is counted, beside what there is. */
const countsOf = async (node: Pick<PostgresStore, 'client'>): Promise<{ counted: unknown; kept: unknown }> => ({
  counted: await node.client.query('SELECT key_id AS key, bytes FROM kept_totals WHERE bytes <> 0 ORDER BY 1'),
  kept: await node.client.query(
    `SELECT coalesce(c.key_id, '') AS key, sum(a.bytes)::bigint AS bytes
     FROM kept_answers a JOIN kept_conversations c ON c.row = a.conversation WHERE c.key_id IS NOT NULL
     GROUP BY ROLLUP (c.key_id) HAVING sum(a.bytes) <> 0 ORDER BY 1`,
  ),
})

describe.skipIf(postgresMissing !== undefined)('answers kept by several nodes', () => {
  test('are counted right, whatever is kept, continued, forgotten, pruned and swept at once', async () => {
    const url = await newDatabase()
    const nodes = await Promise.all([nodeOn(url), nodeOn(url), nodeOn(url)])
    const tight: Bounds = { perKey: 9_000, total: 30_000 }
    let made = 0
    const run = async (node: PostgresStore, seed: number): Promise<void> => {
      for (let i = 0; i < 25; i++) {
        const turn = seed * 31 + i * 7
        const keyId = `key_${turn % 5}`
        const id = `resp_${made++}`
        const previous = turn % 3 === 0 ? `resp_${Math.max(0, made - 6)}` : undefined
        const staged =
          turn % 4 === 0 ? await node.answers.stage?.(undefined, [{ part: 'input', text: 'x'.repeat(500) }]) : undefined
        await node.answers.keep(
          { keyId, id, previous, items: [`item_${turn % 9}`] },
          [{ part: 'output', text: 'y'.repeat(turn % 900) }],
          turn % 2 === 0 ? tight : WIDE,
          staged,
        )
        if (turn % 8 === 0) {
          const places = [keyId, 'key_0', keyId, 'key_4'].map((key) => ({
            keyId: key,
            id: `${id}_${key}`,
            account: 'p/a',
          }))
          await node.answers.place(places, tight)
        }
        if (turn % 5 === 0) await node.answers.forget(keyId, `resp_${made - 3}`)
        if (turn % 7 === 0) await node.answers.prune(0, tight, 2)
        if (turn % 6 === 0) await node.answers.sweep(3)
      }
    }
    await Promise.all(nodes.flatMap((node, i) => [run(node, i), run(node, i + 10), run(node, i + 20)]))
    const [node] = nodes
    if (node === undefined) throw new Error('no node')
    const { counted, kept } = await countsOf(node)
    expect(counted).toEqual(kept)
    await node.answers.prune(Number.MAX_SAFE_INTEGER, WIDE, 10_000)
    while ((await node.answers.sweep(500)) > 0);
    expect(await countsOf(node)).toEqual({ counted: [], kept: [] })
    const left = 'SELECT count(*) AS count FROM kept_answers WHERE conversation IS NOT NULL'
    expect(await node.client.query(left)).toEqual([{ count: 0 }])
  })

  test.each([
    ['is carried out', false, true],
    ['is carried out, of which a part was staged', true, true],
    ['is not', false, false],
  ])('one is kept once where nothing is heard of a statement that %s', async (_, isStaged, isCarriedOut) => {
    const { client, answers } = await nodeOn(await newDatabase())
    let losing = true
    const query: typeof client.query = async (text, ...rest) => {
      if (!losing || !text.includes('INTO kept_items')) return client.query(text, ...rest)
      losing = false
      if (isCarriedOut) await client.query(text, ...rest)
      throw failure('unknown', 'nothing was heard')
    }
    const store = createKeptAnswers({ query }, () => 1)
    const first = { keyId: 'key_a', id: 'one', items: ['item_1'] }
    await answers.keep(first, [{ part: 'output', text: '1' }], WIDE)
    const staged = isStaged ? await store.stage?.(undefined, [{ part: 'input', text: 'said ' }]) : undefined
    const answer = { keyId: 'key_a', id: 'two', previous: 'one', items: ['item_2'] }
    const kept = await store.keep(answer, [{ part: 'output', text: '2' }], WIDE, staged)
    expect([kept, losing]).toEqual([true, false])
    expect((await answers.conversation('key_a', 'two')).map(({ id }) => id).toSorted()).toEqual(['one', 'two'])
    expect(await client.query('SELECT text FROM kept_pieces ORDER BY text')).toEqual(
      ['1', '2', ...(isStaged ? ['said '] : [])].map((text) => ({ text })),
    )
    const { counted, kept: there } = await countsOf({ client })
    expect(counted).toEqual(there)
  })

  test('one that nodes forget at once, and another goes on from, is gone once', async () => {
    const url = await newDatabase()
    const [here, there] = [await nodeOn(url), await nodeOn(url)]
    for (const id of ['a', 'b'])
      await here.answers.keep(
        { keyId: 'k', id, ...(id === 'b' && { previous: 'a' }), items: [] },
        [{ part: 'input', text: id.repeat(50) }],
        WIDE,
      )
    let asked: Promise<boolean>[] = []
    // All three wait for the same conversation.
    await here.client.begin(async (tx) => {
      await tx.query('SELECT 1 FROM kept_conversations FOR UPDATE')
      asked = [
        here.answers.forget('k', 'a'),
        there.answers.forget('k', 'a'),
        there.answers.keep({ keyId: 'k', id: 'c', previous: 'a', items: [] }, [], WIDE),
      ]
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      while ((await tx.query(waiting)).length < asked.length);
    })
    const [first, second, goesOn] = await Promise.all(asked)
    expect([first, second].filter(Boolean)).toHaveLength(1)
    expect(await there.answers.find('k', 'a')).toBeUndefined()
    expect(await there.answers.find('k', 'c')).toEqual(goesOn ? expect.anything() : undefined)
    const { counted, kept } = await countsOf(here)
    expect(counted).toEqual(kept)
  })

  test('an answer continues one that another node kept, unless it was forgotten meanwhile', async () => {
    const url = await newDatabase()
    const [here, there] = [await nodeOn(url), await nodeOn(url)]
    await here.answers.keep({ keyId: 'k', id: 'a', items: ['i'] }, [{ part: 'input', text: '"é"' }], WIDE)
    expect(await there.answers.keep({ keyId: 'k', id: 'b', previous: 'a', items: [] }, [], WIDE)).toBe(true)
    expect(await here.answers.find('k', 'b')).toMatchObject({ id: 'b', previous: 'a' })
    const [found] = await there.answers.withItems('k', ['i'])
    expect(found && (await there.answers.read([{ row: found.row, part: 'input' }], 0, 9))).toEqual([
      { nth: 0, text: '"é"' },
    ])
    const [forgot, kept] = await Promise.all([
      here.answers.forget('k', 'a'),
      there.answers.keep({ keyId: 'k', id: 'c', previous: 'a', items: [] }, [], WIDE),
    ])
    expect(forgot).toBe(true)
    expect(await here.answers.find('k', 'a')).toBeUndefined()
    expect(await here.answers.find('k', 'c')).toEqual(kept ? expect.objectContaining({ previous: 'a' }) : undefined)
    expect((await countsOf(here)).counted).toEqual((await countsOf(here)).kept)
  })
  test('are found and read by as many statements, however many a conversation has', async () => {
    const { client } = await nodeOn(await newDatabase())
    let asked = 0
    const answers = createKeptAnswers(
      {
        query: (...question) => {
          asked++
          return client.query(...question)
        },
      },
      () => 1,
    )
    const statements: number[] = []
    for (const count of [2, 40]) {
      for (let at = 0; at < count; at++) {
        const previous = at === 0 ? undefined : `resp_${count}_${at - 1}`
        const pieces = [
          { part: 'input', text: '1' },
          { part: 'output', text: '2' },
        ] as const
        await answers.keep(
          { keyId: 'k', id: `resp_${count}_${at}`, previous, items: [`i_${count}_${at}`] },
          pieces,
          WIDE,
        )
      }
      asked = 0
      const found = await answers.conversation('k', `resp_${count}_${count - 1}`)
      expect(found).toHaveLength(count)
      await answers.withItems(
        'k',
        found.map((_, at) => `i_${count}_${at}`),
      )
      expect(
        await answers.read(
          found.map(({ row }) => ({ row, part: 'output' })),
          0,
          9_000,
        ),
      ).toHaveLength(count)
      statements.push(asked)
    }
    expect(statements).toEqual([3, 3])
  })
})
