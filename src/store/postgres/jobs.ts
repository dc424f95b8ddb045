// What one node does for all of them, such as renewing and pruning: a lease for each, which ends by itself when its holder does.

import type { Jobs } from '../together.ts'
import type { Client } from './client.ts'

const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
const TAKE = `
  INSERT INTO jobs (name, node, until) VALUES ($1, $2, ${NOW} + $3::bigint)
  ON CONFLICT (name) DO UPDATE SET node = excluded.node, until = excluded.until
    WHERE jobs.node = excluded.node OR jobs.until <= ${NOW}
  RETURNING name`

const RAISE = `
  INSERT INTO jobs (name, node, until) VALUES ($1, $2, ${NOW} + $3::bigint)
  ON CONFLICT (name) DO UPDATE SET node = excluded.node, until = greatest(jobs.until, excluded.until)`
const IS_RAISED = `SELECT 1 AS one FROM jobs WHERE name = $1 AND until > ${NOW}`

/** What holds for all nodes for as long as any of them says so again. */
export const createFlag = (client: Pick<Client, 'query'>, name: string, node: string, forMs: number) => ({
  async raise(): Promise<void> {
    await client.query(RAISE, [name, node, forMs], { isRepeatable: true })
  },
  isRaised: async (): Promise<boolean> => (await client.query(IS_RAISED, [name], { isRepeatable: true })).length > 0,
})

export const createJobs = (client: Pick<Client, 'query'>): Jobs => ({
  take: async (name, node, leaseMs) => (await client.query(TAKE, [name, node, leaseMs])).length > 0,
  async leave(name, node) {
    await client.query('DELETE FROM jobs WHERE name = $1 AND node = $2', [name, node])
  },
})
