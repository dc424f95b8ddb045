// Entries of the configuration in PostgreSQL.

import { and, asc, eq, isNotNull, sql } from 'drizzle-orm'
import type { EntryStore, Section } from '../entries.ts'
import { bySection, changedEntry, entryRow, toEntry } from '../rows/entries.ts'
import type { Changes, Changing } from './change.ts'
import type { Orm } from './orm.ts'
import { byBytes, entries as table } from './schema.ts'

export const createEntries = (orm: Orm, { change }: Changes): EntryStore => {
  const changeOne = async (
    { section, name, next }: Parameters<EntryStore['change']>[0][number],
    { tx, note, now }: Changing,
  ): Promise<void> => {
    const [row] = await tx.select().from(table).where(at(section, name))
    const changed = changedEntry({ section, name }, row && toEntry(row), next(), now)
    if (changed === undefined) return
    const { entry, action, before, after } = changed
    const version = await note(action, name, before, after)
    if (entry === undefined) {
      await tx.delete(table).where(at(section, name))
      return
    }
    const values = entryRow(entry, version)
    await tx
      .insert(table)
      .values(values)
      .onConflictDoUpdate({ target: [table.section, table.name], set: values })
  }
  return {
    list: async () =>
      (await orm.select().from(table).orderBy(asc(table.createdAt), byBytes(table.name))).map(toEntry).sort(bySection),
    async revision() {
      const [state] = await orm
        .select({
          count: sql<number>`count(*)`.as('count'),
          version: sql<number>`coalesce(max(${table.version}), 0)`.as('version'),
        })
        .from(table)
      return `${state?.count ?? 0} ${state?.version ?? 0}`
    },
    change: (changes, actor) =>
      change(actor, async (changing) => {
        for (const one of changes) await changeOne(one, changing)
      }),
    reseal: (next, actor) =>
      change(actor, async ({ tx, note }) => {
        let count = 0
        for (const row of await tx.select().from(table).where(isNotNull(table.sealed))) {
          const entry = toEntry(row)
          const credential = next(entry)
          if (credential === undefined) continue
          const version = await note('account.reseal', entry.name, null, null)
          await tx
            .update(table)
            .set(entryRow({ ...entry, credential }, version))
            .where(at(entry.section, entry.name))
          count++
        }
        return count
      }),
  }
}

const at = (section: Section, name: string) => and(eq(table.section, section), eq(table.name, name))
