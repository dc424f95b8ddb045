// What other nodes have changed, looked for regularly: changes of what nodes hold in memory, figures of keys and budgets, marks
// that budgets have passed. And the database's clock, as a node knows it from that.

import { sql } from 'drizzle-orm'
import { storeError } from '../store.ts'
import type { Client } from './client.ts'
import { MIGRATIONS } from './migrations.ts'

/** Rows that this transaction or a later one has written; by `seen` below, which those are among that were open by then. */
export const writtenSince = (transaction: string) => sql`age(xmin) <= age(${transaction}::text::xid8::xid)`

type Parts = {
  /** Reads what was changed after a version; 0: all of it, whatever was known. */
  changed(after: number): Promise<void>
  /** Reads rows that transactions from this one on have written. */
  moved(since: string): Promise<void>
  /** Budgets have passed marks. */
  passed(): void
}

export type Versions = {
  /** Reads what other nodes have changed; false where nothing was. Who asks while it is read waits for the next reading. */
  refresh(): Promise<boolean>
  /** With the figures of keys and budgets as they are now. */
  catchUp(): Promise<void>
  /** Milliseconds since the epoch, as the database has it. */
  clock(): number
  watch(intervalMs: number): () => void
  /** Throws a StoreError once a newer version of the program has taken away what this one needs. */
  requireUsable(): void
}

type Look = { n: number; life: string | null; least: number; marks: number; now: number; transaction: string }

/** Rows that were copied from elsewhere have versions of their own, and changes go on above them. */
const LEVEL = `
  INSERT INTO versions (what, n)
  SELECT 'changes', greatest((SELECT max(version) FROM keys), (SELECT max(version) FROM budgets), 0)
  ON CONFLICT (what) DO UPDATE SET n = excluded.n WHERE versions.n < excluded.n`

/** `n` before all else: what is changed meanwhile is read twice, and not never. */
const LOOK = `
  SELECT (SELECT n FROM versions WHERE what = 'changes') AS n, (SELECT name FROM life) AS life,
    (SELECT least FROM migrations ORDER BY position DESC LIMIT 1) AS least,
    (SELECT coalesce(max(row), 0) FROM budget_marks) AS marks,
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
    pg_snapshot_xmin(pg_current_snapshot())::text AS transaction`

/** A backup that was restored, or a server that takes over without the last that the one before it had: less has happened there. */
const isAnother = (found: Look, seen: Look): boolean =>
  found.n < seen.n || (seen.life !== null && found.life !== seen.life)

/** A connection that was cut in silence is found out by this. */
const DEADLINE_MS = 5_000
/** Figures of keys and budgets are that old at most. */
const FIGURES_MS = 1_000

/** `own`: in place of the database's clock, for tests. */
export const createVersions = async (
  client: Pick<Client, 'query'>,
  where: string,
  { changed, moved, passed }: Parts,
  own: (() => number) | undefined,
): Promise<Versions> => {
  let ahead = 0
  let least = 0

  const look = async (): Promise<Look> => {
    const asked = Date.now()
    const [found] = await client.query<Look>(LOOK, [], { deadlineMs: DEADLINE_MS, isRepeatable: true })
    if (found === undefined) throw new Error('the database returned no row')
    ahead = found.now - (asked + Date.now()) / 2
    least = found.least
    return found
  }
  await client.query(LEVEL, [], { isRepeatable: true })
  let seen = await look()
  let movedAt = performance.now()
  await changed(0)

  const read = async (figures: boolean): Promise<boolean> => {
    const found = await look()
    const isOther = isAnother(found, seen)
    const isChanged = isOther || found.n !== seen.n
    if (isChanged) await changed(isOther ? 0 : seen.n)
    const isDue = !isOther && (figures || performance.now() - movedAt >= FIGURES_MS)
    if (isDue) {
      await moved(seen.transaction)
      movedAt = performance.now()
    }
    const { marks } = seen
    // What was not read for want of being due is read from the same transaction on.
    seen = isDue || isOther ? found : { ...found, transaction: seen.transaction }
    if (found.marks > marks) passed()
    return isChanged
  }

  let reading: Promise<boolean> | undefined
  /** Begins when `reading` ends. */
  let next: { run: Promise<boolean>; figures: boolean } | undefined
  const begin = (figures: boolean): Promise<boolean> => {
    const run = read(figures).finally(() => {
      if (reading === run) reading = undefined
    })
    reading = run
    return run
  }
  const refresh = (figures = false): Promise<boolean> => {
    if (reading === undefined) return begin(figures)
    if (next !== undefined) {
      next.figures ||= figures
      return next.run
    }
    const waiting = { figures, run: Promise.resolve(false) }
    const start = (): Promise<boolean> => {
      next = undefined
      return begin(waiting.figures)
    }
    waiting.run = reading.then(start, start)
    next = waiting
    return waiting.run
  }

  return {
    refresh: () => refresh(),
    catchUp: async () => void (await refresh(true)),
    clock: own ?? (() => Math.round(Date.now() + ahead)),
    watch(intervalMs) {
      let timer: Timer | undefined
      let stopped = false
      const again = (): void => {
        if (!stopped) timer = setTimeout(poll, intervalMs).unref()
      }
      // A database that is not there now is asked the next time.
      const poll = (): void => void refresh().then(again, again)
      again()
      return () => {
        stopped = true
        clearTimeout(timer)
      }
    },
    requireUsable() {
      if (least > MIGRATIONS.length)
        throw storeError(`The database ${where} was changed by a newer version of sluice; use that version to open it.`)
    },
  }
}
