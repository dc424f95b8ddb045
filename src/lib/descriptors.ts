// Whether this process can open more file descriptors, which files, sockets and threads all need.

import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

/** What starting a thread needs, with a margin: with too few left, starting one ends the process. */
export const FOR_A_THREAD = 8

/** Whether this many can be opened right now. */
export const canOpen = (count: number): boolean => {
  const opened: number[] = []
  try {
    while (opened.length < count) opened.push(openSync(devNull, 'r'))
    return true
  } catch {
    return false
  } finally {
    for (const each of opened) closeSync(each)
  }
}
