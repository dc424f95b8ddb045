// Drizzle over the client: for what is seldom done. What runs with every request is SQL by itself.

import { DrizzleQueryError } from 'drizzle-orm/errors'
import { drizzle, type PgRemoteDatabase } from 'drizzle-orm/pg-proxy'
import type { Queries } from './client.ts'

export type Orm = PgRemoteDatabase

/**
 * The columns of one answer must have names of their own: it comes as objects. `isRepeatable`: whatever is asked by it does no
 * more a second time; else only what reads.
 */
export const ormOf = (queries: Queries, isRepeatable = false): Orm => {
  const orm = drizzle(async (text, params, method) => {
    const rows = await queries.query(text, params, { isRepeatable: isRepeatable || text.startsWith('select') })
    return { rows: method === 'all' ? rows.map(Object.values) : rows }
  })
  const { session } = orm._
  const prepare = session.prepareQuery.bind(session)
  session.prepareQuery = (...query) => {
    const prepared = prepare(...query)
    const execute = prepared.execute.bind(prepared)
    prepared.execute = (values) => execute(values).catch(asItWas)
    return prepared
  }
  return orm
}

/** Drizzle puts the statement and its values, hashes among them, into the message of an error of its own. */
const asItWas = (error: unknown): never => {
  throw error instanceof DrizzleQueryError ? error.cause : error
}
