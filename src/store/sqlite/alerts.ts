// Alerts in SQLite: what was told, and what waits to be sent.

import { and, eq, inArray } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { type Alert, type AlertStore, auditedAlert } from '../../alerts/alert.ts'
import type { Change } from './change.ts'
import { MIGRATIONS } from './migrations.ts'
import type { AtOnce } from './patient.ts'
import { alertsTold as told, alertsWaiting as waiting } from './schema.ts'

export const createAlertStore = (orm: BunSQLiteDatabase, change: Change): AtOnce<AlertStore> => ({
  told: () => orm.select().from(told).all(),
  waiting: () =>
    orm
      .select()
      .from(waiting)
      .orderBy(waiting.at)
      .all()
      .map(({ alert, receiver }) => ({ alert: alert as Alert, receiver })),
  tell: (marks, forgotten, deliveries) =>
    orm.transaction((tx) => {
      for (let at = 0; at < forgotten.length; at += MOST_VALUES)
        tx.delete(told)
          .where(inArray(told.cause, forgotten.slice(at, at + MOST_VALUES)))
          .run()
      for (const { cause, period, at } of marks) {
        const mark = { cause, period, at }
        tx.insert(told).values(mark).onConflictDoUpdate({ target: told.cause, set: mark }).run()
      }
      for (const { alert, receiver } of deliveries)
        tx.insert(waiting).values({ id: alert.id, at: alert.at, receiver, alert }).onConflictDoNothing().run()
      // Nobody else looks.
      return true
    }),
  close: ({ alert, receiver }, end, actor) =>
    change(actor, (tx, note) => {
      tx.delete(waiting)
        .where(and(eq(waiting.id, alert.id), eq(waiting.receiver, receiver)))
        .run()
      note(`alert.${end}`, receiver, null, auditedAlert(alert))
    }),
  migrations: () => MIGRATIONS.length,
})

/** Of one statement. */
const MOST_VALUES = 500
