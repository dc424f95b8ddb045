// Keys in SQLite, all held in memory: neither authentication of a known key nor admission runs a query.

import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { GatewayError, invalidRequest } from '../../errors.ts'
import { budgetOf } from '../../keys/budget.ts'
import { checkKey } from '../../keys/check.ts'
import type { Actor, Key, Keys, NewKey } from '../../keys/key.ts'
import { hashSecret, makeSecret, randomBase62, secretOf, unknownKey } from '../../keys/secret.ts'
import { requireInForce } from '../../keys/status.ts'
import type { BudgetRing } from './budgets.ts'
import type { Change, Note, Transaction } from './change.ts'
import type { AtOnce } from './patient.ts'
import { keys as table } from './schema.ts'

type Row = typeof table.$inferSelect
type Insert = typeof table.$inferInsert
/** Columns to set; those undefined stay as they are. */
type Columns = { [name in keyof Insert]?: Insert[name] | undefined }

/** The key a secret's hash belongs to. `until`: the end of the grace period of a rotated secret. */
type Entry = { key: Key; until: number | undefined }

export type KeyRing = {
  keys: AtOnce<Keys>
  /** Adds settled tokens to a key in memory. */
  charge(keyId: string, tokens: number): void
  /** Charged tokens, by key, have been written to the database. */
  written(charges: ReadonlyMap<string, number>): void
  /** Revokes a member's keys as part of a change to the member. Call `reload` once that is durable. */
  revokeOwned(ownerId: string, tx: Transaction, note: Note): void
  /** Reloads what other processes changed. `all`: also counters, which a server in another process may have moved. */
  reload(all: boolean): void
}

/** `refresh` reloads what other processes changed, and returns whether they changed anything. */
export const createKeyRing = (
  orm: BunSQLiteDatabase,
  change: Change,
  clock: () => number,
  refresh: () => boolean,
  ofBudgets: Pick<BudgetRing, 'put' | 'reload'>,
): KeyRing => {
  const byHash = new Map<string, Entry>()
  const byId = new Map<string, Key>()
  const hashesOf = new Map<string, string[]>()
  const versions = new Map<string, number>()
  /** Tokens charged and not yet in the database, by key. */
  const unwritten = new Map<string, number>()
  /** The newest version read by `reload`. Own changes do not raise it: another process may have made one just below. */
  let version = 0
  let changes = 0

  // A key is the same object for as long as the store is open, so that those who hold it see its changes.
  const take = (row: Row): Key => {
    changes++
    const fresh = { ...toKey(row), tokensUsed: row.tokensUsed + (unwritten.get(row.id) ?? 0) }
    const key = Object.assign(byId.get(row.id) ?? fresh, fresh)
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
  }

  const reload = (all: boolean): void => {
    const rows = all ? orm.select().from(table).all() : orm.select().from(table).where(gt(table.version, version)).all()
    for (const row of rows) {
      take(row)
      version = Math.max(version, row.version)
    }
  }
  reload(true)

  type Edit = { id: string; action: string; columns: (row: Row) => Columns; budget?: NewKey['budget'] }
  const write = ({ id, action, columns, budget }: Edit, tx: Transaction, note: Note): Row => {
    const before = tx.select().from(table).where(eq(table.id, id)).get()
    if (before === undefined) throw new GatewayError('not_found', `There is no key "${id}".`)
    const values = { ...columns(before), version: NEXT_VERSION }
    const after = tx.update(table).set(values).where(eq(table.id, id)).returning().get()
    note(action, id, toKey(before), toKey(after))
    if (budget !== undefined) ofBudgets.put(budgetOf('key', id), budget, tx, note)
    return after
  }
  /** Updates memory once the change is durable. */
  const edit = (one: Edit, actor: Actor): Key => {
    const row = change(actor, (tx, note) => write(one, tx, note))
    if (one.budget !== undefined) ofBudgets.reload(false)
    return take(row)
  }
  const revoking = (id: string): Edit => ({
    id,
    action: 'key.revoke',
    columns: (row) => ({ revokedAt: row.revokedAt ?? clock() }),
  })

  const keys: AtOnce<Keys> = {
    authenticate(headers) {
      const hash = hashSecret(secretOf(headers))
      // The command line may have issued the key a moment ago.
      const entry = byHash.get(hash) ?? (refresh() ? byHash.get(hash) : undefined)
      const now = clock()
      if (entry === undefined || (entry.until !== undefined && entry.until <= now)) throw unknownKey()
      requireInForce(entry.key, now)
      return entry.key
    },
    changes: () => changes,
    versionOf: (id) => versions.get(id) ?? 0,
    get: (id) => byId.get(id),
    list: () => [...byId.values()],
    issue({ budget, ...input }, actor) {
      checkKey(input)
      const secret = makeSecret()
      const row = change(actor, (tx, note) => {
        const own = { id: `key_${randomBase62(16)}`, ...keptOf(secret), createdAt: clock() }
        const made = tx
          .insert(table)
          .values({ ...input, ...own, version: NEXT_VERSION })
          .returning()
          .get()
        note('key.issue', made.id, null, toKey(made))
        if (budget != null) ofBudgets.put(budgetOf('key', made.id), budget, tx, note)
        return made
      })
      if (budget != null) ofBudgets.reload(false)
      return { key: take(row), secret }
    },
    update(id, patch, actor) {
      checkKey(patch)
      const {
        label,
        addTokens = 0,
        tokensUsed,
        renews,
        expiresAt,
        models,
        rpm,
        tpm,
        concurrency,
        serverTools,
        ips,
      } = patch
      const columns = (row: Row): Columns => {
        const tokensTotal = (patch.tokensTotal ?? row.tokensTotal) + addTokens
        const renewing = renews === undefined ? row.renews : renews
        // A total that is set is that of every period, and so is one that never ends.
        const before = patch.tokensTotal === undefined && renewing !== null ? row.tokensExtra : 0
        const tokensExtra = renewing === null || patch.lasting ? before : before + addTokens
        if (!Number.isSafeInteger(tokensTotal)) throw invalidRequest('A key cannot have that many tokens.', 'tokens')
        // The first period of a quota that is to renew from now on is the next one.
        const renewedAt = renews === undefined || renews === row.renews ? undefined : clock()
        return {
          label,
          tokensTotal,
          tokensExtra,
          tokensUsed,
          renews,
          renewedAt,
          expiresAt,
          models,
          rpm,
          tpm,
          concurrency,
          serverTools,
          ips,
        }
      }
      return edit({ id, action: 'key.update', columns, budget: patch.budget }, actor)
    },
    renew(id) {
      const columns = ({ tokensTotal, tokensExtra }: Row): Columns => ({
        ...{ tokensUsed: 0, renewedAt: clock(), tokensTotal: tokensTotal - tokensExtra, tokensExtra: 0 },
      })
      const renewing: Edit = { id, action: 'key.renew', columns }
      // Of a key that nobody used or topped up there is nothing to tell.
      const known = byId.get(id)
      const isUnused = known?.tokensUsed === 0 && known.tokensExtra === undefined
      return take(change(RENEWAL, (tx, note) => write(renewing, tx, isUnused ? () => undefined : note)))
    },
    revoke(id, actor) {
      const known = byId.get(id)
      return known?.revokedAt === undefined ? edit(revoking(id), actor) : known
    },
    rotate(id, graceMs, actor) {
      const secret = makeSecret()
      const columns = (row: Row): Columns => ({
        ...keptOf(secret),
        previousHash: graceMs > 0 ? row.hash : null,
        previousUntil: graceMs > 0 ? clock() + graceMs : null,
      })
      return { key: edit({ id, action: 'key.rotate', columns }, actor), secret }
    },
  }

  return {
    keys,
    charge(keyId, tokens) {
      unwritten.set(keyId, (unwritten.get(keyId) ?? 0) + tokens)
      const key = byId.get(keyId)
      if (key !== undefined) key.tokensUsed += tokens
    },
    written(charges) {
      for (const [keyId, tokens] of charges) {
        const left = (unwritten.get(keyId) ?? 0) - tokens
        if (left > 0) unwritten.set(keyId, left)
        else unwritten.delete(keyId)
      }
    },
    revokeOwned(ownerId, tx, note) {
      const inForce = and(eq(table.ownerId, ownerId), isNull(table.revokedAt))
      for (const { id } of tx.select({ id: table.id }).from(table).where(inForce).all()) write(revoking(id), tx, note)
    },
    reload,
  }
}

/** Who renews quotas, in the audit. */
const RENEWAL: Actor = { kind: 'system', id: 'renewal' }

/** What is kept of a secret. */
const keptOf = (secret: string) => ({ hash: hashSecret(secret), lastFour: secret.slice(-4) })

const NEXT_VERSION = sql<number>`(SELECT coalesce(max(version), 0) + 1 FROM keys)`

const toKey = (row: Row): Key => ({
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
  oldSecretUntil: row.previousUntil ?? undefined,
  ownerId: row.ownerId ?? undefined,
})
