// How a running server is asked to read its configuration again, on every system: by a file in its data directory, which
// only those can write who may read all that is there. The answer is another file beside it.

import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ReloadAnswer } from '../config/reloaded.ts'

const POLL_MS = 250
/** What is older was left behind by a process that is gone. */
const STALE_MS = 60_000
const NAME = /^reload-([0-9a-f-]{36})\.(request|answer)(\.tmp)?$/

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
      for (const { name, asks } of filesIn(dir)) {
        const path = join(dir, name)
        const stat = statSync(path, { throwIfNoEntry: false })
        // Who asked waits no more.
        if (stat === undefined) continue
        const stale = Date.now() - stat.mtimeMs > STALE_MS
        if (stale || asks !== undefined) rmSync(path, { force: true })
        if (!stale && asks !== undefined) put(pathOf(dir, asks, 'answer'), JSON.stringify(await reload()))
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

/** `asks`: the id of a request that is whole. */
const filesIn = (dir: string): { name: string; asks: string | undefined }[] =>
  readdirSync(dir).flatMap((name) => {
    const [found, id, kind, tmp] = NAME.exec(name) ?? []
    if (found === undefined) return []
    return { name, asks: kind === 'request' && tmp === undefined ? id : undefined }
  })

const textOf = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
