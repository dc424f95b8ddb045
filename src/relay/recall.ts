// What the gateway made of answers on another wire, kept a while so that a client may refer to it as if the provider
// kept it. In memory only, per key, within bounds: what is forgotten, the client is asked to send itself.

import type { Json, JsonObject } from '../ir/json.ts'
import type { Edit } from '../lib/json-splice.ts'
import { type Remembered, referenceEdits } from '../wire/responses/references.ts'

/** What one key may have kept, and all keys together, in characters of JSON. */
const KEY_SIZE = 16 * 1024 * 1024
const ALL_SIZE = 64 * 1024 * 1024
/** What an answer takes beside its text, in the same measure: short ones would fill the memory before their bound. */
const OWN_SIZE = 1024

export type Recall = {
  /** The edits that resolve the references of this key's request. */
  edits(keyId: string, body: () => JsonObject): Edit[]
  /** `size`: of request and answer, in characters of JSON. */
  keep(keyId: string, exchange: Remembered, size: number): void
}

type Kept = Remembered & { size: number }
type Shelf = { answers: Map<string, Kept>; items: Map<string, { item: JsonObject; of: string }>; size: number }

export const createRecall = ({ keySize = KEY_SIZE, allSize = ALL_SIZE, ownSize = OWN_SIZE } = {}): Recall => {
  /** Least lately used first, and so are the answers on each. */
  const shelves = new Map<string, Shelf>()
  let total = 0

  const shelfOf = (keyId: string): Shelf | undefined => {
    const shelf = shelves.get(keyId)
    if (shelf !== undefined) toEnd(shelves, keyId, shelf)
    return shelf
  }

  const use = (shelf: Shelf, id: string): Kept | undefined => {
    const kept = shelf.answers.get(id)
    if (kept !== undefined) toEnd(shelf.answers, id, kept)
    return kept
  }

  const forget = (keyId: string, shelf: Shelf, kept: Kept): void => {
    shelf.answers.delete(kept.id)
    for (const { id } of kept.output) if (shelf.items.get(String(id))?.of === kept.id) shelf.items.delete(String(id))
    shelf.size -= kept.size
    total -= kept.size
    if (shelf.answers.size === 0) shelves.delete(keyId)
  }

  const forgetOldest = (keyId: string, shelf: Shelf): void => {
    const [oldest] = shelf.answers.values()
    if (oldest !== undefined) forget(keyId, shelf, oldest)
  }

  const conversation = (shelf: Shelf, id: string): Json[] | undefined => {
    const turns: Kept[] = []
    const seen = new Set<string>()
    for (let at: string | undefined = id; at !== undefined; at = turns.at(-1)?.previous) {
      const kept = seen.has(at) ? undefined : use(shelf, at)
      if (kept === undefined) return undefined
      seen.add(at)
      turns.push(kept)
    }
    return turns.reverse().flatMap(({ input, output }) => [...input, ...output])
  }

  return {
    edits(keyId, body) {
      const shelf = shelfOf(keyId)
      if (shelf === undefined) return []
      return referenceEdits(body(), {
        item: (id) => {
          const found = shelf.items.get(id)
          if (found !== undefined) use(shelf, found.of)
          return found?.item
        },
        conversation: (id) => conversation(shelf, id),
      })
    },
    keep(keyId, exchange, textSize) {
      const size = textSize + ownSize
      if (size > keySize) return
      const shelf = shelfOf(keyId) ?? { answers: new Map(), items: new Map(), size: 0 }
      const before = shelf.answers.get(exchange.id)
      if (before !== undefined) forget(keyId, shelf, before)
      shelves.set(keyId, shelf)
      shelf.answers.set(exchange.id, { ...exchange, size })
      for (const item of exchange.output) {
        if (typeof item.id === 'string') shelf.items.set(item.id, { item, of: exchange.id })
      }
      shelf.size += size
      total += size
      while (shelf.size > keySize) forgetOldest(keyId, shelf)
      while (total > allSize) {
        const [first] = shelves
        if (first === undefined) break
        forgetOldest(...first)
      }
    },
  }
}

const toEnd = <Value>(map: Map<string, Value>, key: string, value: Value): void => {
  map.delete(key)
  map.set(key, value)
}
