// Settings in SQLite: named JSON values, over what the configuration says.

import { eq } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { SettingStore } from '../../members/member.ts'
import type { Change } from './change.ts'
import type { AtOnce } from './patient.ts'
import { settings as table } from './schema.ts'

export const createSettings = (orm: BunSQLiteDatabase, change: Change, clock: () => number): AtOnce<SettingStore> => ({
  read: () =>
    Object.fromEntries(
      orm
        .select()
        .from(table)
        .all()
        .map(({ name, value }) => [name, value]),
    ),
  write: (patch, actor) =>
    change(actor, (tx, note) => {
      for (const [name, value] of Object.entries(patch)) {
        const before = tx.select().from(table).where(eq(table.name, name)).get()?.value ?? null
        if (value === null) tx.delete(table).where(eq(table.name, name)).run()
        else {
          const row = { name, value, updatedAt: clock() }
          tx.insert(table).values(row).onConflictDoUpdate({ target: table.name, set: row }).run()
        }
        note('settings.change', name, before, value)
      }
    }),
})
