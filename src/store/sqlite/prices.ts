// The prices that models have had, in SQLite.

import { desc, eq } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { PriceStore } from '../prices.ts'
import { unknownPrices } from '../rows/prices.ts'
import type { AtOnce } from './patient.ts'
import { prices as table } from './schema.ts'

export const createPrices = (orm: BunSQLiteDatabase, clock: () => number): AtOnce<PriceStore> => ({
  keep(prices) {
    const known = orm.select({ model: table.model, digest: table.digest }).from(table).all()
    const fresh = unknownPrices(prices, known, clock())
    if (fresh.length > 0) orm.insert(table).values(fresh).onConflictDoNothing().run()
  },
  of: (model) =>
    orm
      .select({ price: table.price })
      .from(table)
      .where(eq(table.model, model))
      .orderBy(desc(table.since))
      .all()
      .map(({ price }) => price),
})
