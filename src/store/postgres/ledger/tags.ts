// What an exchange is billed as: the tags of a key are read once a day; other nodes may add as many of their own.

import { createTags } from '../../../ledger/tags.ts'
import { createRecent } from '../../../lib/recent.ts'
import type { Terms } from './options.ts'
import { soon } from './soon.ts'

/** Keys on a day. */
const MOST_TAGGED = 10_000

export const createNodeTags = ({ client, calendar }: Terms) => {
  const known = createRecent<string, string[]>(MOST_TAGGED)
  const reading = new Map<string, Promise<unknown>>()
  const tags = createTags((keyId, day) => known.get(`${keyId} ${day}`) ?? [], calendar.dayOf)
  const read = async (name: string, keyId: string, day: number): Promise<void> => {
    const text = 'SELECT tag FROM usage_tags WHERE day = $1 AND key_id = $2'
    try {
      const rows = await client.query<{ tag: string }>(text, [day, keyId], { isRepeatable: true })
      known.set(
        name,
        rows.map((row) => row.tag),
      )
    } catch {
      // It is read with the next.
    } finally {
      reading.delete(name)
    }
  }
  return async (keyId: string, tag: string, at: number): Promise<string> => {
    const day = calendar.dayOf(at)
    const name = `${keyId} ${day}`
    if (known.get(name) === undefined) {
      let run = reading.get(name)
      if (run === undefined) {
        run = soon(read(name, keyId, day))
        reading.set(name, run)
      }
      await run
      // Until it can be read, sums alone bound them.
      if (known.get(name) === undefined) return tag
    }
    return tags(keyId, tag, at)
  }
}
