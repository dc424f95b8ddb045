// Settings in PostgreSQL: named JSON values, over what the configuration says.

import { eq } from 'drizzle-orm'
import type { SettingStore } from '../../members/member.ts'
import type { Changes } from './change.ts'
import type { Orm } from './orm.ts'
import { settings as table } from './schema.ts'

export const createSettings = (orm: Orm, { change }: Changes): SettingStore => ({
  read: async () => Object.fromEntries((await orm.select().from(table)).map(({ name, value }) => [name, value])),
  write: (patch, actor) =>
    change(actor, async ({ tx, note, now }) => {
      for (const [name, value] of Object.entries(patch)) {
        const [before] = await tx.select().from(table).where(eq(table.name, name))
        if (value === null) await tx.delete(table).where(eq(table.name, name))
        else {
          const row = { name, value, updatedAt: now }
          await tx.insert(table).values(row).onConflictDoUpdate({ target: table.name, set: row })
        }
        await note('settings.change', name, before?.value ?? null, value)
      }
    }),
})
