// An outage is told when it begins, when another cause than before shows, once a minute, and when it is over.

import { expect, test } from 'bun:test'
import { createOutage } from '../../src/observe/outage.ts'

const watched = () => {
  const told: string[] = []
  const time = { now: 0, isOver: true }
  const due: (() => void)[] = []
  const failed = createOutage({
    began: (cause) => told.push(`began ${cause}`),
    lasts: (cause, ms) => told.push(`lasts ${ms / 1_000} ${cause}`),
    over: (ms) => told.push(`over after ${ms / 1_000}`),
    isOver: () => time.isOver,
    stopwatch: () => time.now,
    later: (run) => due.push(run),
  })
  /** Second by second; `fails`: something does in each. */
  const pass = (seconds: number, fails: string | undefined = undefined): void => {
    for (let i = 0; i < seconds; i++) {
      time.now += 1_000
      if (fails !== undefined) failed(fails)
      for (const run of due.splice(0)) run()
    }
  }
  return { told, time, pass, waiting: () => due.length }
}

test('one of three minutes is told when it begins, three times while it lasts, and when it is over', () => {
  const { told, pass, waiting } = watched()
  pass(100)
  expect(waiting()).toBe(0)
  pass(190, 'gone')
  pass(60)
  expect(told).toEqual(['began gone', 'lasts 60 gone', 'lasts 120 gone', 'lasts 180 gone', 'over after 189'])
  expect(waiting()).toBe(0)
})

test('a failure now and then is one outage, told with its latest cause', () => {
  const { told, pass } = watched()
  for (let i = 0; i < 16; i++) {
    pass(1, i === 0 ? 'first' : 'later')
    pass(3)
  }
  expect(told).toEqual(['began first', 'lasts 4 later'])
  pass(12)
  expect(told.at(-1)).toBe('over after 60')
})

test('another cause is told within a second, and one that was told once a minute', () => {
  const { told, pass } = watched()
  pass(1, 'lost')
  pass(3, 'takes no writes')
  pass(3, 'lost')
  pass(3, 'takes no writes')
  expect(told).toEqual(['began lost', 'lasts 1 takes no writes'])
  pass(60, 'takes no writes')
  expect(told.slice(2)).toEqual(['lasts 61 takes no writes'])
})

test('causes that are other words each time are told of a few times, then once a minute', () => {
  const { told, pass } = watched()
  for (let i = 0; i < 60; i++) pass(1, `host ${'x'.repeat(i)} is away`)
  expect(told.length).toBeLessThan(10)
  const before = told.length
  for (let i = 60; i < 180; i++) pass(1, `host ${'x'.repeat(i)} is away`)
  expect(told.slice(before).length).toBe(2)
})

test('a cause whose figures are others each time is the same', () => {
  const { told, pass } = watched()
  for (let block = 0; block < 70; block++) pass(1, `no room at block ${block}`)
  expect(told).toEqual(['began no room at block 0', 'lasts 60 no room at block 60'])
})

test('it is not over while something waits for it, though nothing fails meanwhile', () => {
  const { told, time, pass } = watched()
  time.isOver = false
  pass(1, 'full')
  pass(59)
  expect(told).toEqual(['began full'])
  pass(1)
  time.isOver = true
  pass(1)
  expect(told).toEqual(['began full', 'lasts 60 full', 'over after 0'])
})

test('it is not over while what is tried waits ten seconds for its end', () => {
  const { told, pass } = watched()
  for (let i = 0; i < 4; i++) {
    pass(1, 'not in time')
    pass(9)
  }
  expect(told).toEqual(['began not in time'])
})

test('the next one begins anew', () => {
  const { told, pass } = watched()
  pass(1, 'one')
  pass(12)
  pass(1, 'two')
  pass(12)
  expect(told).toEqual(['began one', 'over after 0', 'began two', 'over after 0'])
})
