// The real world of a command: this process.

import { writeSync } from 'node:fs'
import type { Io } from './io.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

export const processIo = (): Io => ({
  out: (text) => write(1, `${text}\n`),
  err: (text) => write(2, `${text}\n`),
  env: process.env,
  cwd: process.cwd(),
  now: Date.now,
  onStop(listener) {
    for (const signal of SIGNALS) process.on(signal, listener)
    return () => {
      for (const signal of SIGNALS) process.off(signal, listener)
    }
  },
})

// Synchronous, so that nothing is lost when the process ends right after; a reader that left is not an error.
const write = (descriptor: number, text: string): void => {
  let rest = Buffer.from(text)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest))
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code === 'EAGAIN') {
        Bun.sleepSync(1)
        continue
      }
      if (code === 'EPIPE') return
      throw error
    }
  }
}
