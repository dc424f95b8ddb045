// Alerts in PostgreSQL: what was told, and what waits to be sent.

import { and, asc, eq, inArray } from 'drizzle-orm'
import { type Alert, type AlertStore, auditedAlert } from '../../alerts/alert.ts'
import type { Changes } from './change.ts'
import { MIGRATIONS } from './migrations.ts'
import type { Orm } from './orm.ts'
import { alertsTold as told, alertsWaiting as waiting } from './schema.ts'

export const createAlertStore = (orm: Orm, { change, record }: Changes): AlertStore => ({
  told: () => orm.select().from(told),
  waiting: async () =>
    (await orm.select().from(waiting).orderBy(asc(waiting.at))).map(({ alert, receiver }) => ({
      alert: alert as Alert,
      receiver,
    })),
  tell: (marks, forgotten, deliveries) =>
    // One after the other, over all nodes.
    change({ kind: 'system', id: 'alerts' }, async ({ tx }) => {
      const known = new Map<string, number>()
      for (let at = 0; at < marks.length; at += MOST_VALUES) {
        const causes = marks.slice(at, at + MOST_VALUES).map(({ cause }) => cause)
        for (const row of await tx.select().from(told).where(inArray(told.cause, causes))) known.set(row.cause, row.at)
      }
      if (marks.some(({ cause, was }) => known.has(cause) && known.get(cause) !== was)) return false
      for (let at = 0; at < forgotten.length; at += MOST_VALUES)
        await tx.delete(told).where(inArray(told.cause, forgotten.slice(at, at + MOST_VALUES)))
      for (const { cause, period, at } of marks) {
        const mark = { cause, period, at }
        await tx.insert(told).values(mark).onConflictDoUpdate({ target: told.cause, set: mark })
      }
      for (const { alert, receiver } of deliveries)
        await tx.insert(waiting).values({ id: alert.id, at: alert.at, receiver, alert }).onConflictDoNothing()
      return true
    }),
  close: ({ alert, receiver }, end, actor) =>
    record(actor, async ({ tx, note }) => {
      await tx.delete(waiting).where(and(eq(waiting.id, alert.id), eq(waiting.receiver, receiver)))
      await note(`alert.${end}`, receiver, null, auditedAlert(alert))
    }),
  migrations: () => Promise.resolve(MIGRATIONS.length),
})

/** Of one statement. */
const MOST_VALUES = 500
