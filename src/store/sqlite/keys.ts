// Keys in SQLite, all held in memory: neither authentication of a known key nor admission runs a query.

import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { GatewayError } from '../../errors.ts'
import { budgetOf } from '../../keys/budget.ts'
import { checkKey } from '../../keys/check.ts'
import type { Actor, Key, Keys, NewKey } from '../../keys/key.ts'
import { hashSecret, makeSecret, randomBase62, secretOf, unknownKey } from '../../keys/secret.ts'
import { requireInForce } from '../../keys/status.ts'
import {
  createKeyCache,
  type KeyColumns,
  type KeyRow,
  keptOf,
  type Once,
  onceOf,
  RENEWAL,
  renewed,
  requireSame,
  revoked,
  rotated,
  toKey,
  updated,
} from '../rows/keys.ts'
import type { BudgetRing } from './budgets.ts'
import type { Change, Note, Transaction } from './change.ts'
import type { AtOnce } from './patient.ts'
import { audit, keys as table } from './schema.ts'

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

type Options = {
  orm: BunSQLiteDatabase
  change: Change
  clock: () => number
  /** Reloads what other processes changed, and returns whether they changed anything. */
  refresh: () => boolean
  ofBudgets: Pick<BudgetRing, 'put' | 'reload'>
}

export const createKeyRing = ({ orm, change, clock, refresh, ofBudgets }: Options): KeyRing => {
  const cache = createKeyCache()
  /** Tokens charged and not yet in the database, by key. */
  const unwritten = new Map<string, number>()
  /** The newest version read by `reload`. Own changes do not raise it: another process may have made one just below. */
  let version = 0

  const take = (row: KeyRow): Key => cache.take(row, unwritten.get(row.id))

  const reload = (all: boolean): void => {
    const rows = all ? orm.select().from(table).all() : orm.select().from(table).where(gt(table.version, version)).all()
    for (const row of rows) {
      take(row)
      version = Math.max(version, row.version)
    }
  }
  reload(true)

  /** Within a change no other process makes or changes any: with what others had made by then these are all. */
  const ownedBy = (ownerId: string | undefined, tx: Transaction): Key[] => {
    if (ownerId === undefined) return []
    for (const row of tx.select().from(table).where(eq(table.ownerId, ownerId)).all())
      if (row.version > cache.versionOf(row.id)) take(row)
    return cache.list().filter((key) => key.ownerId === ownerId)
  }

  type Edit = {
    id: string
    action: string
    columns: (row: KeyRow) => KeyColumns
    budget?: NewKey['budget']
    check?: ((owned: readonly Key[], key: Key) => void) | undefined
    once?: Once | undefined
  }
  /** Whether that change was made before. */
  const isMade = ({ id, action }: Edit, once: Once, actor: Actor, tx: Transaction): boolean => {
    const named = sql`json_extract(${audit.after}, '$.once.name') = ${once.name}`
    const byActor = and(eq(audit.actorKind, actor.kind), eq(audit.actorId, actor.id))
    const made = tx
      .select({ after: audit.after })
      .from(audit)
      .where(and(eq(audit.target, id), eq(audit.action, action), byActor, named))
      .get()
    if (made !== undefined) requireSame(once, made.after)
    return made !== undefined
  }
  const write = (one: Edit, tx: Transaction, note: Note, actor?: Actor): KeyRow => {
    const { id, action, columns, budget, check, once } = one
    const before = tx.select().from(table).where(eq(table.id, id)).get()
    if (before === undefined) throw new GatewayError('not_found', `There is no key "${id}".`)
    if (once !== undefined && actor !== undefined && isMade(one, once, actor, tx)) return before
    if (check !== undefined) {
      const owned = ownedBy(before.ownerId ?? undefined, tx)
      check(owned, cache.get(id) ?? toKey(before))
    }
    const values = { ...columns(before), version: NEXT_VERSION }
    const after = tx.update(table).set(values).where(eq(table.id, id)).returning().get()
    note(action, id, toKey(before), once === undefined ? toKey(after) : { ...toKey(after), once })
    if (budget !== undefined) ofBudgets.put(budgetOf('key', id), budget, tx, note)
    return after
  }
  /** Updates memory once the change is durable. */
  const edit = (one: Edit, actor: Actor): Key => {
    const row = change(actor, (tx, note) => write(one, tx, note, actor))
    if (one.budget !== undefined) ofBudgets.reload(false)
    return take(row)
  }
  const revoking = (id: string): Edit => ({
    id,
    action: 'key.revoke',
    columns: (row) => revoked(row, clock()),
  })

  const keys: AtOnce<Keys> = {
    authenticate(headers) {
      const secret = secretOf(headers)
      const hash = hashSecret(secret)
      // The command line may have issued the key a moment ago.
      if (!cache.knows(hash)) refresh()
      const now = clock()
      const key = cache.find(hash, now)
      if (key === undefined) throw unknownKey(secret)
      requireInForce(key, now)
      return key
    },
    changes: cache.changes,
    versionOf: cache.versionOf,
    get: cache.get,
    list: cache.list,
    issue({ budget, ...input }, actor, check) {
      checkKey(input)
      const secret = makeSecret()
      const row = change(actor, (tx, note) => {
        check?.(ownedBy(input.ownerId, tx))
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
    update(id, patch, actor, check) {
      checkKey(patch)
      const columns = (row: KeyRow): KeyColumns => updated(row, patch, clock())
      return edit({ id, action: 'key.update', columns, budget: patch.budget, check, once: onceOf(patch) }, actor)
    },
    renew(id) {
      const columns = (row: KeyRow): KeyColumns => renewed(row, clock())
      const renewing: Edit = { id, action: 'key.renew', columns }
      // Of a key that nobody used or topped up there is nothing to tell.
      const known = cache.get(id)
      const isUnused = known?.tokensUsed === 0 && known.tokensExtra === undefined
      return take(change(RENEWAL, (tx, note) => write(renewing, tx, isUnused ? () => undefined : note)))
    },
    revoke(id, actor) {
      const known = cache.get(id)
      return known?.revokedAt === undefined ? edit(revoking(id), actor) : known
    },
    rotate(id, graceMs, actor) {
      const secret = makeSecret()
      const columns = (row: KeyRow): KeyColumns => rotated(row, secret, graceMs, clock())
      return { key: edit({ id, action: 'key.rotate', columns }, actor), secret }
    },
  }

  return {
    keys,
    charge(keyId, tokens) {
      unwritten.set(keyId, (unwritten.get(keyId) ?? 0) + tokens)
      const key = cache.get(keyId)
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

const NEXT_VERSION = sql<number>`(SELECT coalesce(max(version), 0) + 1 FROM keys)`
