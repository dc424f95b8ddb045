// How a running server is asked to read its configuration again, on every system: by a file in its data directory, which
// only those can write who may read all that is there. The answer is another file beside it.

import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ReloadAnswer } from '../config/reloaded.ts'

const POLL_MS = 250
/** What is older was left behind by a process that is gone. */
const STALE_MS = 60_000
const NAME = /^reload-([0-9a-f-]{36})\.(request|answer)$/

const pathOf = (dir: string, id: string, kind: 'request' | 'answer'): string => join(dir, `reload-${id}.${kind}`)

/** Whole or not at all. */
const put = (path: string, text: string): void => {
  writeFileSync(`${path}.tmp`, text, { mode: 0o600 })
  renameSync(`${path}.tmp`, path)
}

/** Looks for requests until the returned function is called. They are answered one after the other. */
export const answerRequests = (dir: string, reload: () => Promise<ReloadAnswer>): (() => void) => {
  let busy = false
  const look = async (): Promise<void> => {
    if (busy) return
    busy = true
    try {
      for (const [id, kind] of filesIn(dir)) {
        const path = pathOf(dir, id, kind)
        const stale = Date.now() - statSync(path).mtimeMs > STALE_MS
        if (stale || kind === 'request') rmSync(path, { force: true })
        if (!stale && kind === 'request') put(pathOf(dir, id, 'answer'), JSON.stringify(await reload()))
      }
    } catch {
      // Whoever asked is told that nobody answers; a disk that is full or gone is told of elsewhere.
    } finally {
      busy = false
    }
  }
  const timer = setInterval(() => void look(), POLL_MS)
  return () => clearInterval(timer)
}

/** Asks the server on that data directory. Undefined where none answers in time. */
export const requestReload = async (dir: string, timeoutMs: number): Promise<ReloadAnswer | undefined> => {
  const id = randomUUID()
  const answer = pathOf(dir, id, 'answer')
  put(pathOf(dir, id, 'request'), '')
  try {
    for (const end = performance.now() + timeoutMs; performance.now() < end; await Bun.sleep(POLL_MS / 5)) {
      const text = textOf(answer)
      if (text !== undefined) return JSON.parse(text) as ReloadAnswer
    }
    return undefined
  } finally {
    for (const kind of ['request', 'answer'] as const) rmSync(pathOf(dir, id, kind), { force: true })
  }
}

const filesIn = (dir: string): [string, 'request' | 'answer'][] =>
  readdirSync(dir).flatMap((name): [string, 'request' | 'answer'][] => {
    const [, id, kind] = NAME.exec(name) ?? []
    return id === undefined ? [] : [[id, kind === 'request' ? 'request' : 'answer']]
  })

const textOf = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
