// What an exchange is billed as: the tags of a key are read once a day; other nodes may add as many of their own.

import { createTags } from '../../../ledger/tags.ts'
import { createRecent } from '../../../lib/recent.ts'
import type { Terms } from './options.ts'

/** Keys on a day. */
const MOST_TAGGED = 10_000

export const createNodeTags = ({ client, calendar }: Terms) => {
  const known = createRecent<string, string[]>(MOST_TAGGED)
  const tags = createTags((keyId, day) => known.get(`${keyId} ${day}`) ?? [], calendar.dayOf)
  return async (keyId: string, tag: string, at: number): Promise<string> => {
    const day = calendar.dayOf(at)
    const name = `${keyId} ${day}`
    if (known.get(name) === undefined) {
      const rows = await client.query<{ tag: string }>('SELECT tag FROM usage_tags WHERE day = $1 AND key_id = $2', [
        ...[day, keyId],
      ])
      known.set(
        name,
        rows.map((row) => row.tag),
      )
    }
    return tags(keyId, tag, at)
  }
}
