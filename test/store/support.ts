// Stores for tests: a database file in a folder of its own, gone afterwards.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Actor, NewKey } from '../../src/keys/key.ts'
import type { Refusal } from '../../src/store/refusals.ts'
import { openStore } from '../../src/store/sqlite/index.ts'
import type { SqliteStore } from '../../src/store/store.ts'

export const NOW = Date.UTC(2026, 8, 1, 12)
export const HOUR = 3_600_000
export const DAY = 24 * HOUR
export const ACTOR: Actor = { kind: 'cli', id: 'test' }

export const newKey = (more: Partial<NewKey> = {}): NewKey => ({
  ...{ label: 'a key', tokensTotal: 1_000_000, expiresAt: NOW + 365 * DAY, models: ['*'] },
  ...more,
})

const folders: string[] = []
const stores: SqliteStore[] = []

/** Closes the stores of a test and removes their files: each test file gives it to its own `afterEach`. */
export const cleanUp = async (): Promise<void> => {
  for (const store of stores.splice(0)) await store.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}

/** The path of a database that does not exist yet. */
export const newPath = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-store-'))
  folders.push(folder)
  return join(folder, 'sluice.db')
}

/** An open store, closed after the test unless it was closed before. */
export const open = (path = ':memory:', clock: () => number = () => NOW): SqliteStore => {
  const store = openStore(path, { clock })
  let closed = false
  const once: SqliteStore = {
    ...store,
    async close() {
      if (!closed) await store.close()
      closed = true
    },
  }
  stores.push(once)
  return once
}

export const refusalOf = (more: Partial<Refusal> = {}): Refusal => ({
  ...{ id: 'req_refused', keyId: 'key_a', at: NOW, wire: 'messages', path: '/v1/messages', model: undefined },
  ...{ status: 429, code: 'rate_limit_exceeded', failed: 'rate limit', told: 'Too many.' },
  ...{ address: undefined, tag: undefined },
  ...more,
})

export const bearer = (secret: string): Headers => new Headers({ authorization: `Bearer ${secret}` })
