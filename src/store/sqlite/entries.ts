// Entries of the configuration in SQLite.

import { and, asc, eq, isNotNull, sql } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { EntryStore, Section } from '../entries.ts'
import { bySection, changedEntry, entryRow, toEntry } from '../rows/entries.ts'
import type { Change, Note, Transaction } from './change.ts'
import type { AtOnce } from './patient.ts'
import { audit, entries as table } from './schema.ts'

export const createEntries = (orm: BunSQLiteDatabase, change: Change, clock: () => number): AtOnce<EntryStore> => {
  // Prepared: servers look for the changes of other processes several times a second.
  const state = orm
    .select({ count: sql<number>`count(*)`, version: sql<number | null>`max(${table.version})` })
    .from(table)
    .prepare()
  const changeOne = (
    { section, name, next }: Parameters<EntryStore['change']>[0][number],
    tx: Transaction,
    note: Note,
  ) => {
    const row = tx.select().from(table).where(at(section, name)).get()
    const changed = changedEntry({ section, name }, row && toEntry(row), next(), clock())
    if (changed === undefined) return
    const { entry, action, before, after } = changed
    note(action, name, before, after)
    if (entry === undefined) {
      tx.delete(table).where(at(section, name)).run()
      return
    }
    const values = entryRow(entry, lastNote(tx))
    const target = [table.section, table.name]
    tx.insert(table).values(values).onConflictDoUpdate({ target, set: values }).run()
  }
  return {
    list: () =>
      orm.select().from(table).orderBy(asc(table.createdAt), asc(table.name)).all().map(toEntry).sort(bySection),
    revision() {
      const { count = 0, version = null } = state.get() ?? {}
      return `${count} ${version ?? 0}`
    },
    change: (changes, actor) =>
      change(actor, (tx, note) => {
        for (const one of changes) changeOne(one, tx, note)
      }),
    reseal: (next, actor) =>
      change(actor, (tx, note) => {
        let count = 0
        for (const row of tx.select().from(table).where(isNotNull(table.sealed)).all()) {
          const entry = toEntry(row)
          const credential = next(entry)
          if (credential === undefined) continue
          note('account.reseal', entry.name, null, null)
          const { section, name } = entry
          tx.update(table)
            .set(entryRow({ ...entry, credential }, lastNote(tx)))
            .where(at(section, name))
            .run()
          count++
        }
        return count
      }),
  }
}

const at = (section: Section, name: string) => and(eq(table.section, section), eq(table.name, name))

/** The row of the audit that this change has written last. */
const lastNote = (tx: Transaction): number =>
  tx
    .select({ row: sql<number>`max(${audit.row})` })
    .from(audit)
    .get()?.row ?? 0
