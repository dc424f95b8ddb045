// What live views are told: everyone's counts to who sees all, a member's own to the member; each exchange once.

import { expect, test } from 'bun:test'
import { createLive } from '../../src/observe/live.ts'
import type { Ended, Summary } from '../../src/relay/exchange.ts'
import type { Refusal } from '../../src/store/refusals.ts'
import type { ExchangeRow } from '../../src/store/usage.ts'

const exchange = (id: string, ownerId?: string) => ({ id, key: { ownerId } }) as Ended
const ended = (outcome: Summary['outcome']) => ({ outcome }) as Summary

test('counts are of all, or of one owner and of nobody else', () => {
  const live = createLive()
  live.publish(exchange('1', 'mia'), ended('done'))
  live.publish(exchange('2', 'mia'), ended('failed'))
  live.publish(exchange('3', 'bo'), ended('refused'))
  live.publish(exchange('4'), ended('aborted'))
  live.refused('bo')
  live.refused(undefined)
  expect([live.counts(), live.counts('mia'), live.counts('bo'), live.counts('eve')]).toEqual([
    { finished: 6, errors: 4 },
    { finished: 2, errors: 1 },
    { finished: 2, errors: 2 },
    { finished: 0, errors: 0 },
  ])
})

test('what was told stays as it was told', () => {
  const live = createLive()
  const before = live.counts()
  live.refused(undefined)
  expect([before, live.counts().finished]).toEqual([{ finished: 0, errors: 0 }, 1])
})

test('an exchange is shown once, by whichever way it comes, and only while someone watches', () => {
  const live = createLive()
  const seen: string[] = []
  const watch = (by: string) =>
    live.watch(
      ({ id }) => seen.push(`${by} ${id}`),
      by,
      ({ id }) => seen.push(`${by} ${id}`),
      ({ id }) => seen.push(`${by} ${id}`),
    )
  live.publish(exchange('0'), ended('done'))
  const ends = [watch('a'), watch('b'), watch('b')]
  expect([live.watching(), live.watching('a'), live.watching('b'), live.watching('c')]).toEqual([3, 1, 2, 0])
  ends.pop()?.()
  live.publish(exchange('1'), ended('done'))
  live.publishRefused([{ id: '2' } as Refusal])
  const row = (id: string) => ({ id }) as ExchangeRow
  for (const id of ['1', '2', '3', '3']) live.show(row(id), false)
  live.show(row('4'), true)
  live.show(row('4'), false)
  for (const end of ends) end()
  live.publish(exchange('5'), ended('done'))
  expect([seen, live.watching()]).toEqual([['a 1', 'b 1', 'a 2', 'b 2', 'a 3', 'b 3'], 0])
})
