// Kept answers in the database: there after a restart, removed to the last piece, in steps.

import { afterEach, describe, expect, test } from 'bun:test'
import { ANSWER_BYTES, type AnswerStore, type Piece } from '../../src/ledger/kept-answers.ts'
import { type AnyStore, closeAll, type Place, STORES } from './stores.ts'
import { ACTOR, DAY, NOW, newKey } from './support.ts'

afterEach(closeAll)

const BOUNDS = { perKey: 1_000_000, total: 2_000_000 }
const pieces = (count: number, chars = 10): Piece[] =>
  Array.from({ length: count }, (_, at) => ({ part: 'input', text: `${at}`.padEnd(chars, '.') }))

const keep = (answers: AnswerStore, id: string, more: { keyId?: string; previous?: string; size?: number } = {}) =>
  answers.keep(
    { keyId: more.keyId ?? 'k', id, previous: more.previous, items: [`item_${id}`] },
    pieces(more.size ?? 2),
    BOUNDS,
  )

const TABLES = ['kept_conversations', 'kept_answers', 'kept_pieces', 'kept_items']
const rowsOf = async (place: Place): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const table of TABLES) counts[table] = await place.count(table)
  counts.bytes = await place.sum('kept_totals', 'bytes')
  return counts
}
const NOTHING = { kept_conversations: 0, kept_answers: 0, kept_pieces: 0, kept_items: 0, bytes: 0 }

const sweepAll = async ({ answers }: AnyStore): Promise<number> => {
  let rounds = 0
  while ((await answers.sweep(5)) > 0) rounds++
  return rounds
}

describe.each(STORES)('kept answers in %s', (_, { newPlace }) => {
  test('an answer is found by another process that opens the database, a large one written ahead too', async () => {
    const place = await newPlace()
    const { answers } = await place.open()
    await keep(answers, 'small')
    const staged = await answers.stage?.(undefined, pieces(3))
    await answers.stage?.(staged, [{ part: 'input', text: 'end' }])
    expect(await answers.find('k', 'large')).toBeUndefined()
    await answers.keep(
      { keyId: 'k', id: 'large', previous: 'small', items: [] },
      [{ part: 'output', text: 'said' }],
      BOUNDS,
      staged,
    )
    const other = (await place.open()).answers
    const found = await other.find('k', 'large')
    expect(found?.previous).toBe('small')
    const row = found?.row ?? 0
    const read = async (from: number, bytes: number): Promise<string[]> => {
      const parts = [
        { row, part: 'output' },
        { row, part: 'rest' },
        { row, part: 'input' },
      ] as const
      return (await other.read(parts, from, bytes)).map(({ nth, text }) => `${nth} ${text.replaceAll('.', '')}`)
    }
    expect(await read(0, 1_000)).toEqual(['0 said', '2 0', '2 1', '2 2', '2 end'])
    // As many as come to so many bytes, and what is left from there.
    expect(await read(0, 4)).toEqual(['0 said'])
    expect(await read(0, 5)).toEqual(['0 said', '2 0'])
    expect(await read(1, 20)).toEqual(['2 0', '2 1'])
    expect(await read(1, 31)).toEqual(['2 0', '2 1', '2 2', '2 end'])
    expect((await other.read([{ row, part: 'input' }], 3, 9)).map(({ text }) => text)).toEqual(['end'])
    expect(await other.read([{ row, part: 'input' }], 4, 9)).toEqual([])
    expect((await other.withItems('k', ['item_small', 'item_none'])).map(({ id }) => id)).toEqual(['small'])
  })

  test('a conversation is found at once: each of its answers as it is by now, and nothing that goes on from it', async () => {
    const { answers } = await (await newPlace()).open()
    const idsOf = async (keyId: string, id: string) =>
      (await answers.conversation(keyId, id)).map((answer) => answer.id).sort()
    await keep(answers, 'a')
    for (const [id, previous] of [
      ['b', 'a'],
      ['c', 'b'],
      ['beside', 'b'],
      ['d', 'c'],
    ] as const)
      await keep(answers, id, { previous })
    await keep(answers, 'a', { keyId: 'other' })
    expect(await idsOf('k', 'c')).toEqual(['a', 'b', 'c'])
    expect(await idsOf('other', 'a')).toEqual(['a'])
    expect(await idsOf('other', 'c')).toEqual([])
    await keep(answers, 'b', { previous: 'a', size: 5 })
    const again = await answers.find('k', 'b')
    const of = await answers.conversation('k', 'd')
    expect(of.filter(({ id }) => id === 'b')).toEqual([expect.objectContaining({ row: again?.row })])
    expect((await answers.withItems('k', ['item_d', 'item_c', 'item_a', 'item_c'])).map(({ id }) => id)).toEqual([
      'a',
      'c',
      'd',
    ])
    // A provider may give an id a second time.
    await keep(answers, 'a', { previous: 'd' })
    expect(await idsOf('k', 'd')).toEqual(['a', 'b', 'c', 'd'])
    await answers.forget('k', 'c')
    expect(await idsOf('k', 'd')).toEqual(['d'])
  })

  test('what was used last before the retention is forgotten with all that continues it, and removed in steps', async () => {
    const place = await newPlace()
    let now = NOW
    const store = await place.open(() => now)
    await keep(store.answers, 'old', { size: 30 })
    await keep(store.answers, 'used')
    now += 2 * DAY
    await keep(store.answers, 'later', { previous: 'used' })
    expect(await store.answers.prune(now - DAY, BOUNDS, 10)).toBe(1)
    expect(await store.answers.find('k', 'old')).toBeUndefined()
    expect(await store.answers.withItems('k', ['item_old'])).toEqual([])
    expect((await store.answers.find('k', 'used'))?.id).toBe('used')
    expect(await sweepAll(store)).toBeGreaterThan(4)
    now += 2 * DAY
    expect(await store.answers.prune(now - DAY, BOUNDS, 10)).toBe(1)
    await sweepAll(store)
    expect(await rowsOf(place)).toEqual(NOTHING)
  })

  test('those of a revoked key are forgotten, and those past bounds that were set lower', async () => {
    const place = await newPlace()
    const store = await place.open()
    const { key } = await store.keys.issue(newKey(), ACTOR)
    for (const id of ['a', 'b', 'c']) await keep(store.answers, id, { keyId: key.id })
    for (const id of ['a', 'b', 'c']) await keep(store.answers, id, { keyId: 'other' })
    await store.keys.revoke(key.id, ACTOR)
    expect(await store.answers.prune(0, BOUNDS, 2)).toBe(2)
    expect(await store.answers.prune(0, BOUNDS, 10)).toBe(1)
    expect(await store.answers.find(key.id, 'c')).toBeUndefined()
    expect(await store.answers.prune(0, { ...BOUNDS, perKey: 1_500 }, 10)).toBe(2)
    expect((await store.answers.find('other', 'c'))?.id).toBe('c')
    expect(await store.answers.prune(0, { ...BOUNDS, total: 100 }, 10)).toBe(1)
    await sweepAll(store)
    expect(await rowsOf(place)).toEqual(NOTHING)
  })

  test('where providers keep answers, and what those came to, is noted for many at once: the last word on each stands', async () => {
    const place = await newPlace()
    const { answers } = await place.open()
    const noted = (keyId: string, id: string, account: string, tokens?: number) => ({ keyId, id, account, tokens })
    await answers.place(
      [noted('k', 'a', 'p/1'), noted('l', 'a', 'p/2', 7), noted('k', 'b', 'p/3', 8), noted('k', 'a', 'p/1', 9)],
      BOUNDS,
    )
    await answers.place([noted('k', 'b', 'p/4', 10)], BOUNDS)
    const { answers: others } = await place.open()
    const of = async (keyId: string, id: string) => await others.find(keyId, id)
    expect(await of('k', 'a')).toMatchObject({ place: 'p/1', tokens: 9 })
    expect(await of('l', 'a')).toMatchObject({ place: 'p/2', tokens: 7 })
    expect(await of('k', 'b')).toMatchObject({ place: 'p/4', tokens: 10 })
    expect(await of('l', 'b')).toBeUndefined()
    expect(await place.sum('kept_totals', 'bytes')).toBe(2 * 5 * ANSWER_BYTES)
  })

  test('what was forgotten never piles up, whoever prunes or not', async () => {
    const place = await newPlace()
    const { answers } = await place.open()
    const bounds = { perKey: 20_000, total: 20_000 }
    for (let at = 0; at < 200; at++) await answers.keep({ keyId: 'k', id: `a${at}`, items: [] }, pieces(5), bounds)
    expect((await rowsOf(place)).kept_pieces).toBeLessThan(150)
  })

  test('pieces of an answer that a killed process was writing are removed the next day', async () => {
    const place = await newPlace()
    let now = NOW
    const store = await place.open(() => now)
    await store.answers.stage?.(undefined, pieces(12))
    now += DAY / 2
    expect(await store.answers.sweep(50)).toBe(0)
    now += DAY
    await sweepAll(store)
    expect(await rowsOf(place)).toEqual(NOTHING)
  })

  test('a deleted answer leaves nothing of itself, and the others of its conversation stay', async () => {
    const place = await newPlace()
    const store = await place.open()
    await keep(store.answers, 'a')
    await keep(store.answers, 'b', { previous: 'a' })
    const whole = (await rowsOf(place)).bytes
    expect(await store.answers.forget('k', 'a')).toBe(true)
    await sweepAll(store)
    expect(await rowsOf(place)).toMatchObject({
      kept_conversations: 1,
      kept_answers: 1,
      kept_pieces: 2,
      bytes: (whole ?? 0) / 2,
    })
  })
})
