// The thread of the runtime that sends requests to providers and receives their answers.

import { readdirSync, readFileSync } from 'node:fs'
import { libc } from './libc.ts'

const NAME = 'HTTP Client'

/** Linux's numbers for `sched_setscheduler`, which musl has only in name, and for SCHED_BATCH. */
const SET_SCHEDULER: { [arch: string]: number } = { x64: 144, arm64: 119 }
const BATCH = 3

/** What a start does comes first: a library is loaded for this. */
const AFTER_MS = 1_000

/**
 * Begins it by asking `url`: where it finds no descriptors to begin with it ends the process, and a server that has just begun has
 * some. From soon after it waits for its turn when it is woken, and then finds more to do (decisions/0049).
 */
export const beginHttpThread = (url: string): void => {
  void fetch(url).catch(() => undefined)
  setTimeout(letItWait, AFTER_MS).unref()
}

/** Returns how many such threads there are that now wait. Only on Linux a thread can. */
export const letItWait = (): number => {
  const number = SET_SCHEDULER[process.arch]
  const system = number === undefined ? undefined : libc()
  if (system === undefined || number === undefined) return 0
  const priority = new Int32Array(1)
  return threadsNamed(NAME).filter((id) => Number(system.syscall(number, id, BATCH, priority)) === 0).length
}

const threadsNamed = (name: string): number[] => {
  const tasks = '/proc/self/task'
  try {
    return readdirSync(tasks)
      .filter((id) => readFileSync(`${tasks}/${id}/comm`, 'utf8') === `${name}\n`)
      .map(Number)
  } catch {
    return []
  }
}
