// Whether this process may open more: files, sockets and threads all take of the same descriptors.

import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

/** What a thread takes to begin, with room to spare: one begun with fewer left ends the process. */
export const FOR_A_THREAD = 8

/** Whether so many can be had at this moment. */
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
