// For how long a process has run, by turns of its event loop.

import { afterEach, beforeEach, expect, jest, setSystemTime, test } from 'bun:test'
import { createRan } from '../../src/lib/ran.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => {
  setSystemTime()
  jest.useRealTimers()
})

test('time counts in which there were turns, and none in which the process stood still', () => {
  const ran = createRan()
  const begun = ran.begin(500)
  setSystemTime(Date.now() + 60_000)
  expect(ran.since(begun)).toBe(0)
  jest.advanceTimersByTime(300)
  expect(ran.since(begun)).toBe(300)
})

test('each that has begun is counted past its time, whoever began before or after', () => {
  const ran = createRan()
  const first = ran.begin(200)
  jest.advanceTimersByTime(200)
  const second = ran.begin(500)
  jest.advanceTimersByTime(5_000)
  expect(ran.since(first)).toBeGreaterThan(200)
  expect(ran.since(second)).toBeGreaterThan(500)
})

test('nothing is looked at once all have had their time, until the next begins', () => {
  const ran = createRan()
  ran.begin(200)
  jest.advanceTimersByTime(1_000)
  expect(jest.getTimerCount()).toBe(0)
  const later = ran.begin(200)
  expect(jest.getTimerCount()).toBe(1)
  jest.advanceTimersByTime(1_000)
  expect(ran.since(later)).toBeGreaterThan(200)
})
