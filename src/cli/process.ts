// The real world of a command: this process.

import { closeSync, openSync, writeSync } from 'node:fs'
import type { Io } from './io.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
/** By which other servers are asked for a new log file. They ask for nothing here, and end a process that does not listen. */
const MEANINGLESS = process.platform === 'win32' ? [] : (['SIGUSR1', 'SIGUSR2'] as const)
const FAULTS = ['uncaughtException', 'unhandledRejection'] as const

export const processIo = (): Io => ({
  out: (text) => write(1, `${text}\n`),
  err(text) {
    try {
      write(2, `${text}\n`)
    } catch {
      // A note that a full disk does not take must not keep a server from running.
    }
  },
  terminal: process.stdout.isTTY === true && process.stderr.isTTY === true,
  readSecret: (question) => (question === undefined ? readLine() : asked(question)),
  confirm: async (question) => {
    if (process.stdin.isTTY !== true) return undefined
    writeSync(2, `${question} [y/N] `)
    for await (const line of console) return /^y(?:es)?$/i.test(line.trim())
    return false
  },
  env: process.env,
  cwd: process.cwd(),
  now: Date.now,
  onStop(listener) {
    for (const signal of SIGNALS) process.on(signal, listener)
    for (const signal of MEANINGLESS) process.on(signal, nothing)
    return () => {
      for (const signal of SIGNALS) process.off(signal, listener)
      for (const signal of MEANINGLESS) process.off(signal, nothing)
    }
  },
  onReload(listener) {
    if (process.platform === 'win32') return () => undefined
    // A terminal that is closed says the same word: then it means the end.
    const attached = process.stdin.isTTY === true
    const heard = (): void => {
      if (attached && !hasTerminal()) process.kill(process.pid, 'SIGTERM')
      else listener()
    }
    process.on('SIGHUP', heard)
    return () => void process.off('SIGHUP', heard)
  },
  onFault(listener) {
    const heard = (error: unknown): void => listener(error)
    for (const fault of FAULTS) process.on(fault, heard)
    return () => {
      for (const fault of FAULTS) process.off(fault, heard)
    }
  },
})

const readLine = async (): Promise<string | undefined> => (await Bun.stdin.text()).split(/\r?\n/)[0]

/** Undefined where there is no terminal to ask on. What is typed is not echoed. */
const asked = async (question: string): Promise<string | undefined> => {
  const { stdin } = process
  if (stdin.isTTY !== true) return undefined
  // Before the question, so that what is typed ahead is not echoed either.
  stdin.setRawMode(true)
  writeSync(2, question)
  try {
    let typed = ''
    for await (const chunk of stdin) {
      for (const key of chunk.toString()) {
        if (key === '\r' || key === '\n' || key === '\u0004') return typed
        if (key === '\u0003') return undefined
        typed = key === '\u007f' || key === '\b' ? typed.slice(0, -1) : typed + key
      }
    }
    return typed
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
    writeSync(2, '\n')
  }
}

const nothing = (): void => undefined

const hasTerminal = (): boolean => {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}

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
