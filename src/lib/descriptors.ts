// Whether this process can open more file descriptors, which files, sockets and threads all need.

import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { libc } from './libc.ts'

/** What starting a thread needs, with a margin: with too few left, starting one ends the process. */
export const FOR_A_THREAD = 8

/** Whether this many can be opened right now. */
export const canOpen = (count: number): boolean => {
  const opened: number[] = []
  try {
    opened.push(openSync(devNull, 'r'))
    return count === 1 || hasCopies(opened[0] ?? 0, count - 1) || mayOpenMore(opened, count)
  } catch {
    return false
  } finally {
    for (const each of opened) closeSync(each)
  }
}

/** From so many times on that it is asked, loading the library takes less than it saves. A start asks for less. */
const ASKED_OFTEN = 32
let asked = 0

/** Whether one can be copied so often: to open a file takes ten times as long. False also where that cannot be tried. */
const hasCopies = (descriptor: number, count: number): boolean => {
  const system = ++asked < ASKED_OFTEN ? undefined : libc()
  if (system === undefined) return false
  let made = 0
  const copies: number[] = []
  for (; made < count; made++) {
    const copy = system.dup(descriptor)
    if (copy < 0) break
    copies.push(copy)
  }
  for (const copy of copies) system.close(copy)
  return made === count
}

const mayOpenMore = (opened: number[], count: number): boolean => {
  while (opened.length < count) opened.push(openSync(devNull, 'r'))
  return true
}
