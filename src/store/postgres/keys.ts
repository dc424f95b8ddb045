// Keys in PostgreSQL, all held in memory: neither authentication of a known key nor admission runs a query.

import { and, asc, eq, getTableColumns, gt, isNull, sql } from 'drizzle-orm'
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
import type { Changes, Changing } from './change.ts'
import type { Orm } from './orm.ts'
import { audit, byBytes, keys as table } from './schema.ts'
import { writtenSince } from './versions.ts'

export type KeyRing = {
  keys: Keys
  /** Revokes a member's keys as part of a change to the member. Call `reload` once that is durable. */
  revokeOwned(ownerId: string, changing: Changing): Promise<void>
  /**
   * Reads what was changed after a version; 0: all of it, whatever was known. It is known once what it returns is called: a key
   * that is found has its budgets, which are read in between.
   */
  reload(after: number): Promise<() => void>
  /** Reads rows of known keys that transactions from this one on have written, of usage too; see figures in versions.ts. */
  reloadSince(transaction: string): Promise<void>
}

/** What the ledger alone reads stays where it is. */
const { tokensHeld, inFlight, windowSeconds, windowRequests, windowTokens, ...columns } = getTableColumns(table)

type Options = {
  orm: Orm
  changes: Changes
  clock: () => number
  /** Reads what other nodes have changed. */
  refresh: () => Promise<unknown>
  ofBudgets: Pick<BudgetRing, 'put' | 'reload'>
}

export const createKeyRing = ({ orm, changes, clock, refresh, ofBudgets }: Options): KeyRing => {
  const cache = createKeyCache()
  const { change } = changes

  const inForce = (secret: string, hash: string): Key => {
    const key = cache.find(hash, clock())
    if (key === undefined) throw unknownKey(secret)
    requireInForce(key, clock())
    return key
  }

  type Edit = {
    id: string
    action: string
    columns: (row: KeyRow, now: number) => KeyColumns
    budget?: NewKey['budget']
    check?: ((owned: readonly Key[], key: Key) => void) | undefined
    once?: Once | undefined
  }
  /** Whether that change was made before. */
  const isMade = async ({ id, action }: Edit, once: Once, actor: Actor, { tx }: Changing): Promise<boolean> => {
    const named = sql`${audit.after}::json #>> '{once,name}' = ${once.name}`
    const byActor = and(eq(audit.actorKind, actor.kind), eq(audit.actorId, actor.id))
    const [made] = await tx
      .select({ after: audit.after })
      .from(audit)
      .where(and(eq(audit.target, id), eq(audit.action, action), byActor, named))
    if (made !== undefined) requireSame(once, made.after)
    return made !== undefined
  }
  /** No other change is under way: they stay as they are, but for what is used of them. */
  const ownedBy = async (ownerId: string | null | undefined, { tx }: Changing): Promise<Key[]> =>
    ownerId == null ? [] : (await tx.select(columns).from(table).where(eq(table.ownerId, ownerId))).map(toKey)
  /** Locked: exchanges go on counting. */
  const locked = async (id: string, { tx }: Changing): Promise<KeyRow> => {
    const [row] = await tx.select(columns).from(table).where(eq(table.id, id)).for('update')
    if (row === undefined) throw new GatewayError('not_found', `There is no key "${id}".`)
    return row
  }
  const write = async (edit: Edit, changing: Changing, before: KeyRow, tells = true): Promise<KeyRow> => {
    const { tx, note, now, version } = changing
    const { id, action, budget, once } = edit
    const values = { ...edit.columns(before, now), version }
    const [after = before] = await tx.update(table).set(values).where(eq(table.id, id)).returning(columns)
    if (tells) await note(action, id, toKey(before), once === undefined ? toKey(after) : { ...toKey(after), once })
    if (budget !== undefined) await ofBudgets.put(budgetOf('key', id), budget, changing)
    return after
  }
  /** Updates memory once the change is durable. */
  const edit = async (one: Edit, actor: Actor): Promise<Key> => {
    const row = await change(actor, async (changing) => {
      const before = await locked(one.id, changing)
      if (one.once !== undefined && (await isMade(one, one.once, actor, changing))) return before
      one.check?.(await ownedBy(before.ownerId, changing), toKey(before))
      return write(one, changing, before)
    })
    if (one.budget !== undefined) await ofBudgets.reload()
    return cache.take(row)
  }
  const revoking = (id: string): Edit => ({ id, action: 'key.revoke', columns: revoked })

  const reload = async (after: number): Promise<() => void> => {
    // Listed as they were made: a database gives rows in an order of its own.
    const changed = orm.select(columns).from(table).where(gt(table.version, after))
    const rows = await changed.orderBy(asc(table.createdAt), byBytes(table.id))
    return () => {
      if (after === 0) cache.takeAll(rows)
      else for (const row of rows) cache.take(row)
    }
  }

  const keys: Keys = {
    authenticate(headers) {
      const secret = secretOf(headers)
      const hash = hashSecret(secret)
      if (cache.knows(hash)) return inForce(secret, hash)
      // Another node may have issued the key a moment ago.
      return refresh().then(() => inForce(secret, hash))
    },
    changes: cache.changes,
    versionOf: cache.versionOf,
    get: cache.get,
    list: cache.list,
    async issue({ budget, ...input }, actor, check) {
      checkKey(input)
      const secret = makeSecret()
      const row = await change(actor, async (changing) => {
        const { tx, note, now, version } = changing
        check?.(await ownedBy(input.ownerId, changing))
        const own = { id: `key_${randomBase62(16)}`, ...keptOf(secret), createdAt: now, version }
        const [made] = await tx
          .insert(table)
          .values({ ...input, ...own })
          .returning(columns)
        if (made === undefined) throw new Error('the database returned no row')
        await note('key.issue', made.id, null, toKey(made))
        if (budget != null) await ofBudgets.put(budgetOf('key', made.id), budget, changing)
        return made
      })
      if (budget != null) await ofBudgets.reload()
      return { key: cache.take(row), secret }
    },
    async update(id, patch, actor, check) {
      checkKey(patch)
      const set = (row: KeyRow, now: number): KeyColumns => updated(row, patch, now)
      return edit({ id, action: 'key.update', columns: set, budget: patch.budget, check, once: onceOf(patch) }, actor)
    },
    async renew(id) {
      const known = cache.get(id)?.renewedAt
      const row = await change(RENEWAL, async (changing) => {
        const before = await locked(id, changing)
        // Another node has begun the period meanwhile.
        if ((before.renewedAt ?? undefined) !== known) return before
        // Of a key that nobody used or topped up there is nothing to tell.
        const isUnused = before.tokensUsed === 0 && before.tokensExtra === 0
        return write({ id, action: 'key.renew', columns: renewed }, changing, before, !isUnused)
      })
      return cache.take(row)
    },
    async revoke(id, actor) {
      const row = await change(actor, async (changing) => {
        const before = await locked(id, changing)
        return before.revokedAt === null ? write(revoking(id), changing, before) : before
      })
      return cache.take(row)
    },
    async rotate(id, graceMs, actor) {
      const secret = makeSecret()
      const set = (row: KeyRow, now: number): KeyColumns => rotated(row, secret, graceMs, now)
      return { key: await edit({ id, action: 'key.rotate', columns: set }, actor), secret }
    },
  }

  return {
    keys,
    async revokeOwned(ownerId, changing) {
      const owned = and(eq(table.ownerId, ownerId), isNull(table.revokedAt))
      const found = await changing.tx.select(columns).from(table).where(owned).orderBy(asc(table.id)).for('update')
      for (const before of found) await write(revoking(before.id), changing, before)
    },
    reload,
    async reloadSince(transaction) {
      const written = await orm.select(columns).from(table).where(writtenSince(transaction))
      for (const row of written) if (cache.get(row.id) !== undefined) cache.take(row)
    },
  }
}
