// The prices that models have had, in PostgreSQL.

import { desc, eq } from 'drizzle-orm'
import type { PriceStore } from '../prices.ts'
import { unknownPrices } from '../rows/prices.ts'
import type { Orm } from './orm.ts'
import { prices as table } from './schema.ts'

export const createPrices = (orm: Orm, clock: () => number): PriceStore => ({
  async keep(prices) {
    const known = await orm.select({ model: table.model, digest: table.digest }).from(table)
    const fresh = unknownPrices(prices, known, clock())
    if (fresh.length > 0) await orm.insert(table).values(fresh).onConflictDoNothing()
  },
  async of(model) {
    const rows = await orm
      .select({ price: table.price })
      .from(table)
      .where(eq(table.model, model))
      .orderBy(desc(table.since))
    return rows.map(({ price }) => price)
  },
})
