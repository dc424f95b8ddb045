// What tests start, stopped again.

import { afterAll, afterEach } from 'bun:test'

type Started = { stop(): Promise<void> }

/** Stops what a file's tests share after the last of them, in this order. */
export const stopAfterAll = (shared: () => Started[]): void =>
  afterAll(async () => {
    for (const each of shared()) await each.stop()
  })

/** Hands on what a test has started, and stops it after the test, the last one first. */
export const stopsAfterEach = () => {
  let started: Started[] = []
  afterEach(async () => {
    for (const each of started.reverse()) await each.stop()
    started = []
  })
  return <T extends Started>(each: T): T => {
    started.push(each)
    return each
  }
}
