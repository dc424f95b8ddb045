// Links that make the first admin: each start of a node offers one, which any node takes. Those of the newest starts are kept.

import type { SetupLinks } from '../../members/setup-links.ts'
import type { Client } from './client.ts'

/** As many nodes may begin together. */
const MOST = 10

export const createSetupLinks = (db: Pick<Client, 'query'>): SetupLinks => ({
  async offer(hash) {
    await db.query(
      `WITH offered AS (
         INSERT INTO setup_links (hash, at) VALUES ($1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
         ON CONFLICT (hash) DO NOTHING)
       DELETE FROM setup_links WHERE hash IN (SELECT hash FROM setup_links ORDER BY at DESC, hash OFFSET ${MOST - 1})`,
      [hash],
      { isRepeatable: true },
    )
  },
  async has(hash) {
    return (await db.query('SELECT 1 FROM setup_links WHERE hash = $1', [hash], { isRepeatable: true })).length > 0
  },
  async clear() {
    await db.query('DELETE FROM setup_links', [], { isRepeatable: true })
  },
})
