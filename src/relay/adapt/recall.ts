// Translated answers, cached so that clients may refer to them by id as if the provider stored them. In memory only, per
// key, within bounds: a client that refers to a forgotten one is told to send it again.

import type { Json, JsonObject } from '../../ir/json.ts'
import type { Edit } from '../../lib/json-splice.ts'
import { type Remembered, referenceEdits } from '../../wire/responses/references.ts'

/** What is cached for one key, and for all keys together, in characters of JSON. */
const MAX_KEY_SIZE = 16 * 1024 * 1024
const MAX_TOTAL_SIZE = 64 * 1024 * 1024
/** Added to the size of each answer for its bookkeeping: many short ones would take far more memory than their text. */
const OVERHEAD = 1024

export type Recall = {
  /** The edits that resolve the references of this key's request. */
  edits(keyId: string, body: () => JsonObject): Edit[]
  /** `size`: of request and answer, in characters of JSON; of a large request in bytes. */
  keep(keyId: string, exchange: Remembered, size: number): void
}

type Kept = Remembered & { size: number }
type KeyCache = { answers: Map<string, Kept>; items: Map<string, { item: JsonObject; of: string }>; size: number }

export const createRecall = ({
  maxKeySize = MAX_KEY_SIZE,
  maxTotalSize = MAX_TOTAL_SIZE,
  overhead = OVERHEAD,
} = {}): Recall => {
  /** Least recently used first, and so are the answers in each. */
  const caches = new Map<string, KeyCache>()
  let total = 0

  const cacheOf = (keyId: string): KeyCache | undefined => {
    const cache = caches.get(keyId)
    if (cache !== undefined) moveToEnd(caches, keyId, cache)
    return cache
  }

  const touch = (cache: KeyCache, id: string): Kept | undefined => {
    const kept = cache.answers.get(id)
    if (kept !== undefined) moveToEnd(cache.answers, id, kept)
    return kept
  }

  const forget = (keyId: string, cache: KeyCache, kept: Kept): void => {
    cache.answers.delete(kept.id)
    for (const { id } of kept.output) if (cache.items.get(String(id))?.of === kept.id) cache.items.delete(String(id))
    cache.size -= kept.size
    total -= kept.size
    if (cache.answers.size === 0) caches.delete(keyId)
  }

  const forgetOldest = (keyId: string, cache: KeyCache): void => {
    const [oldest] = cache.answers.values()
    if (oldest !== undefined) forget(keyId, cache, oldest)
  }

  const conversation = (cache: KeyCache, id: string): Json[] | undefined => {
    const turns: Kept[] = []
    const seen = new Set<string>()
    for (let at: string | undefined = id; at !== undefined; at = turns.at(-1)?.previous) {
      const kept = seen.has(at) ? undefined : touch(cache, at)
      if (kept === undefined) return undefined
      seen.add(at)
      turns.push(kept)
    }
    return turns.reverse().flatMap(({ input, output }) => [...input, ...output])
  }

  return {
    edits(keyId, body) {
      const cache = cacheOf(keyId)
      if (cache === undefined) return []
      return referenceEdits(body(), {
        item: (id) => {
          const found = cache.items.get(id)
          if (found !== undefined) touch(cache, found.of)
          return found?.item
        },
        conversation: (id) => conversation(cache, id),
      })
    },
    keep(keyId, exchange, textSize) {
      const size = textSize + overhead
      if (size > maxKeySize) return
      const cache = cacheOf(keyId) ?? { answers: new Map(), items: new Map(), size: 0 }
      const before = cache.answers.get(exchange.id)
      if (before !== undefined) forget(keyId, cache, before)
      caches.set(keyId, cache)
      cache.answers.set(exchange.id, { ...exchange, size })
      for (const item of exchange.output) {
        if (typeof item.id === 'string') cache.items.set(item.id, { item, of: exchange.id })
      }
      cache.size += size
      total += size
      while (cache.size > maxKeySize) forgetOldest(keyId, cache)
      while (total > maxTotalSize) {
        const [first] = caches
        if (first === undefined) break
        forgetOldest(...first)
      }
    },
  }
}

const moveToEnd = <Value>(map: Map<string, Value>, key: string, value: Value): void => {
  map.delete(key)
  map.set(key, value)
}
