// When a collection is asked for, and when it is left to the runtime.

import { afterEach, beforeEach, expect, jest, spyOn, test } from 'bun:test'
import { collectAfter, collectOnceQuiet } from '../../src/lib/collect.ts'

const MB = 1024 * 1024

let gc: ReturnType<typeof spyOn<typeof Bun, 'gc'>>
let now: ReturnType<typeof spyOn<typeof performance, 'now'>>
let time = 1_000_000

const pass = (ms: number): void => {
  for (let left = ms; left > 0; left -= 100) {
    time += 100
    jest.advanceTimersByTime(100)
  }
}

beforeEach(() => {
  jest.useFakeTimers()
  gc = spyOn(Bun, 'gc').mockImplementation(() => undefined)
  now = spyOn(performance, 'now').mockImplementation(() => time)
  time += 1_000_000
  // Whatever has been left before is gone.
  collectAfter(100 * MB)
  pass(5_000)
  gc.mockClear()
})

afterEach(() => {
  gc.mockRestore()
  now.mockRestore()
  jest.useRealTimers()
})

test('what large requests have left is collected once, when no more come', () => {
  for (let each = 0; each < 100; each++) {
    collectOnceQuiet(300_000)
    pass(300)
  }
  expect(gc).not.toHaveBeenCalled()
  pass(3_000)
  expect(gc).toHaveBeenCalledTimes(1)
  pass(60_000)
  expect(gc).toHaveBeenCalledTimes(1)
})

test('many small ones come to as much', () => {
  for (let each = 0; each < 2_000; each++) collectOnceQuiet(500)
  pass(3_000)
  expect(gc).toHaveBeenCalledTimes(1)
})

test('what few have left is the runtime’s to collect', () => {
  for (let each = 0; each < 20; each++) collectOnceQuiet(300_000)
  pass(60_000)
  expect(gc).not.toHaveBeenCalled()
})

test('what a step has collected is not collected again', () => {
  for (let each = 0; each < 100; each++) collectOnceQuiet(300_000)
  collectAfter(10 * MB)
  pass(60_000)
  expect(gc).toHaveBeenCalledTimes(1)
})
