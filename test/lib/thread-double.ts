// A thread for tests: doubles, fails, or waits until it is told to go on.

import { answerAsks } from '../../src/lib/thread.ts'

export type TestAsk = { double: number } | { fail: string } | { waitFor: Int32Array }
export type TestAnswer = { doubled: number; turn: number }

let turn = 0

answerAsks((ask: TestAsk): TestAnswer => {
  turn += 1
  if ('fail' in ask) throw new Error(ask.fail)
  if ('waitFor' in ask) Atomics.wait(ask.waitFor, 0, 0)
  return { doubled: 'double' in ask ? ask.double * 2 : 0, turn }
})
