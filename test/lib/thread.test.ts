// Threads: asked, answered in turn, and what is told when they fail.

import { afterEach, expect, test } from 'bun:test'
import { createThread, type Thread } from '../../src/lib/thread.ts'
import type { TestAnswer, TestAsk } from './thread-double.ts'

const threads: { stop(): void }[] = []
afterEach(() => {
  for (const thread of threads.splice(0)) thread.stop()
})

const started = (module = '../test/lib/thread-double.ts'): Thread<TestAsk, TestAnswer> => {
  const thread = createThread<TestAsk, TestAnswer>(module)
  threads.push(thread)
  return thread
}

test('what is asked at once is answered in turn, each its own', async () => {
  const thread = started()
  expect(thread.ready()).toBe(false)
  const answers = await Promise.all([1, 2, 3].map((double) => thread.ask({ double })))
  expect(answers.map(({ doubled }) => doubled)).toEqual([2, 4, 6])
  expect(answers.map(({ turn }) => turn)).toEqual([1, 2, 3])
  expect(thread.ready()).toBe(true)
})

test('a fault is told to who asked, and the next is answered', async () => {
  const thread = started()
  const failing = thread.ask({ fail: 'no such table' })
  const next = thread.ask({ double: 4 })
  expect(await failing.catch(String)).toContain('no such table')
  expect((await next).doubled).toBe(8)
})

test('what cannot be copied is refused, and nothing waits for it', async () => {
  const thread = started()
  const uncopied = { double: () => 1 } as unknown as TestAsk
  expect(await thread.ask(uncopied).catch(() => 'refused')).toBe('refused')
  expect((await thread.ask({ double: 4 })).doubled).toBe(8)
  // Would reject what still waits, with nobody to hear it.
  thread.stop()
  await new Promise(setImmediate)
})

test('a thread whose module cannot be loaded rejects, and so does the next ask', async () => {
  const thread = started('../test/lib/not-there.ts')
  for (const double of [1, 2]) {
    expect(await thread.ask({ double }).catch(() => 'rejected')).toBe('rejected')
    expect(thread.ready()).toBe(false)
  }
})

test('one that is stopped rejects what it was asked, and the next ask starts another', async () => {
  const thread = started()
  await thread.ask({ double: 1 })
  const asked = [thread.ask({ double: 2 }), thread.ask({ double: 3 })].map((each) => each.catch(String))
  thread.stop()
  expect(await Promise.all(asked)).toEqual(['Error: stopped', 'Error: stopped'])
  expect(await thread.ask({ double: 5 })).toEqual({ doubled: 10, turn: 1 })
})

test('the loop goes on while it works', async () => {
  const thread = started()
  await thread.ask({ double: 1 })
  const until = new Int32Array(new SharedArrayBuffer(4))
  const waiting = thread.ask({ waitFor: until })
  await new Promise((resolve) => setImmediate(resolve))
  Atomics.store(until, 0, 1)
  Atomics.notify(until, 0)
  expect((await waiting).turn).toBe(2)
})
