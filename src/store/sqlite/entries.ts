// Entries of the configuration in SQLite.

import { and, asc, eq, isNotNull, sql } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { type EntryStore, type KeptEntry, SECTIONS, type Section } from '../entries.ts'
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
    const before = row && toEntry(row)
    const after = next()
    const noun = NOUNS[section]
    if (after === undefined) {
      if (before === undefined) return
      note(`${noun}.remove`, name, told(before), null)
      tx.delete(table).where(at(section, name)).run()
      return
    }
    const now = clock()
    const entry: KeptEntry = {
      ...{ section, name, value: after.value, credential: after.credential ?? before?.credential },
      ...{ createdAt: before?.createdAt ?? now, updatedAt: now },
    }
    const renewed = before === undefined || after.credential === undefined ? {} : { credential_changed: true }
    note(`${noun}.${before === undefined ? 'add' : 'change'}`, name, before ? told(before) : null, {
      ...told(entry),
      ...renewed,
    })
    const values = toRow(entry, lastNote(tx))
    const target = [table.section, table.name]
    tx.insert(table).values(values).onConflictDoUpdate({ target, set: values }).run()
  }
  return {
    list: () =>
      orm
        .select()
        .from(table)
        .orderBy(asc(table.createdAt), asc(table.name))
        .all()
        .map(toEntry)
        .sort((a, b) => SECTIONS.indexOf(a.section) - SECTIONS.indexOf(b.section)),
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
            .set(toRow({ ...entry, credential }, lastNote(tx)))
            .where(at(section, name))
            .run()
          count++
        }
        return count
      }),
  }
}

const NOUNS: Record<Section, string> = {
  providers: 'provider',
  accounts: 'account',
  models: 'model',
  aliases: 'alias',
  fallbacks: 'fallback',
}

const at = (section: Section, name: string) => and(eq(table.section, section), eq(table.name, name))

/** As the audit is told of it: never what is sealed. */
const told = ({ value, credential }: KeptEntry) => ({
  value,
  ...(credential === undefined ? {} : { credential: credential.lastFour === null ? 'set' : `…${credential.lastFour}` }),
})

/** The row of the audit that this change has written last. */
const lastNote = (tx: Transaction): number =>
  tx
    .select({ row: sql<number>`max(${audit.row})` })
    .from(audit)
    .get()?.row ?? 0

const toEntry = (row: typeof table.$inferSelect): KeptEntry => ({
  section: row.section,
  name: row.name,
  value: row.value,
  credential: row.sealed === null ? undefined : { text: row.sealed, by: row.sealedBy ?? '', lastFour: row.lastFour },
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
})

const toRow = ({ section, name, value, credential, createdAt, updatedAt }: KeptEntry, version: number) => ({
  ...{ section, name, value, createdAt, updatedAt, version },
  ...{ sealed: credential?.text ?? null, sealedBy: credential?.by ?? null, lastFour: credential?.lastFour ?? null },
})
