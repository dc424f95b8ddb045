// Keys as rows, of either dialect: what is read from them, what changes set, and those that are held in memory.

import { invalidRequest } from '../../errors.ts'
import { asObject } from '../../ir/json.ts'
import type { Actor, Key, KeyPatch, Keys } from '../../keys/key.ts'
import { hashSecret } from '../../keys/secret.ts'
import type { keys } from '../postgres/schema.ts'

/** What the ledger of several nodes alone has in them. */
type OfNodes = 'tokensHeld' | 'inFlight' | 'windowSeconds' | 'windowRequests' | 'windowTokens'
export type KeyRow = Omit<typeof keys.$inferSelect, OfNodes>
type Insert = Omit<typeof keys.$inferInsert, OfNodes>
/** Columns to set; those undefined stay as they are. */
export type KeyColumns = { [name in keyof Insert]?: Insert[name] | undefined }

/** Who renews quotas and budgets, in the audit. */
export const RENEWAL: Actor = { kind: 'system', id: 'renewal' }

export const toKey = (row: KeyRow): Key => ({
  id: row.id,
  label: row.label,
  lastFour: row.lastFour ?? undefined,
  purpose: row.purpose ?? undefined,
  createdAt: row.createdAt,
  expiresAt: row.expiresAt,
  revokedAt: row.revokedAt ?? undefined,
  tokensTotal: row.tokensTotal,
  tokensUsed: row.tokensUsed,
  renews: row.renews ?? undefined,
  tokensExtra: row.tokensExtra === 0 ? undefined : row.tokensExtra,
  renewedAt: row.renewedAt ?? undefined,
  models: row.models,
  rpm: row.rpm ?? undefined,
  tpm: row.tpm ?? undefined,
  concurrency: row.concurrency ?? undefined,
  serverTools: row.serverTools ?? undefined,
  ips: row.ips ?? undefined,
  capture: row.capture ?? undefined,
  oldSecretUntil: row.previousUntil ?? undefined,
  ownerId: row.ownerId ?? undefined,
})

/** What is kept of a secret. */
export const keptOf = (secret: string) => ({ hash: hashSecret(secret), lastFour: secret.slice(-4) })

/** A change that is made once, as its row in the audit has it. */
export type Once = { name: string; tokens: number; lasting: boolean }

export const onceOf = ({ once: name, addTokens = 0, lasting = false }: KeyPatch): Once | undefined =>
  name === undefined ? undefined : { name, tokens: addTokens, lasting }

/** Throws `invalid_request` where the change that was made by that name is another. `after`: of its row in the audit. */
export const requireSame = (once: Once, after: unknown): void => {
  const made: Partial<Once> = asObject(asObject(after).once)
  if (made.tokens === once.tokens && made.lasting === once.lasting) return
  const message =
    'That name (Idempotency-Key, --once) is of another change of this key. Give each change one of its own.'
  throw invalidRequest(message, 'Idempotency-Key')
}

/** Throws `invalid_request` where the total cannot be. */
export const updated = (row: KeyRow, patch: KeyPatch, now: number): KeyColumns => {
  const { label, addTokens = 0, tokensUsed, renews, expiresAt, models, rpm, tpm, concurrency, serverTools } = patch
  const tokensTotal = (patch.tokensTotal ?? row.tokensTotal) + addTokens
  const renewing = renews === undefined ? row.renews : renews
  // A total that is set is that of every period, and so is one that never ends.
  const before = patch.tokensTotal === undefined && renewing !== null ? row.tokensExtra : 0
  const tokensExtra = renewing === null || patch.lasting ? before : before + addTokens
  if (!Number.isSafeInteger(tokensTotal)) throw invalidRequest('A key cannot have that many tokens.', 'tokens')
  return {
    ...{ label, tokensTotal, tokensExtra, tokensUsed, renews },
    // The first period of a quota that is to renew from now on is the next one.
    renewedAt: renews === undefined || renews === row.renews ? undefined : now,
    ...{ expiresAt, models, rpm, tpm, concurrency, serverTools, ips: patch.ips, capture: patch.capture },
  }
}

export const renewed = ({ tokensTotal, tokensExtra }: KeyRow, now: number): KeyColumns => ({
  ...{ tokensUsed: 0, renewedAt: now, tokensTotal: tokensTotal - tokensExtra, tokensExtra: 0 },
})

export const revoked = ({ revokedAt }: KeyRow, now: number): KeyColumns => ({ revokedAt: revokedAt ?? now })

export const rotated = ({ hash }: KeyRow, secret: string, graceMs: number, now: number): KeyColumns => ({
  ...keptOf(secret),
  previousHash: graceMs > 0 ? hash : null,
  previousUntil: graceMs > 0 ? now + graceMs : null,
})

/** The key a secret's hash belongs to. `until`: the end of the grace period of a rotated secret. */
type Entry = { key: Key; until: number | undefined }

type KeyCache = Pick<Keys, 'changes' | 'versionOf' | 'get' | 'list'> & {
  /** `more`: tokens that are used and not in the row yet. A row that is older than what is known changes nothing. */
  take(row: KeyRow, more?: number): Key
  /** All that there are, whatever was known. */
  takeAll(rows: readonly KeyRow[]): void
  /** By its secret's hash, while that is valid; `now`: milliseconds since the epoch. */
  find(hash: string, now: number): Key | undefined
  /** Whether a secret's hash is known, valid or not. */
  knows(hash: string): boolean
}

export const createKeyCache = (): KeyCache => {
  const byHash = new Map<string, Entry>()
  const byId = new Map<string, Key>()
  const hashesOf = new Map<string, string[]>()
  const versions = new Map<string, number>()
  let changes = 0
  const cache: KeyCache = {
    // A key is the same object for as long as the store is open, so that those who hold it see its changes.
    take(row, more = 0) {
      const known = byId.get(row.id)
      const version = versions.get(row.id) ?? 0
      if (known !== undefined && row.version < version) return known
      if (row.version !== version) changes++
      const fresh = { ...toKey(row), tokensUsed: row.tokensUsed + more }
      const key = Object.assign(known ?? fresh, fresh)
      byId.set(key.id, key)
      versions.set(key.id, row.version)
      for (const hash of hashesOf.get(key.id) ?? []) byHash.delete(hash)
      const hashes = [row.hash]
      byHash.set(row.hash, { key, until: undefined })
      if (row.previousHash !== null) {
        hashes.push(row.previousHash)
        byHash.set(row.previousHash, { key, until: row.previousUntil ?? 0 })
      }
      hashesOf.set(key.id, hashes)
      return key
    },
    takeAll(rows) {
      for (const known of [byHash, hashesOf, versions]) known.clear()
      for (const row of rows) cache.take(row)
      for (const id of byId.keys()) if (!versions.has(id)) byId.delete(id)
      changes++
    },
    find(hash, now) {
      const entry = byHash.get(hash)
      return entry === undefined || (entry.until !== undefined && entry.until <= now) ? undefined : entry.key
    },
    knows: (hash) => byHash.has(hash),
    changes: () => changes,
    versionOf: (id) => versions.get(id) ?? 0,
    get: (id) => byId.get(id),
    list: () => [...byId.values()],
  }
  return cache
}
