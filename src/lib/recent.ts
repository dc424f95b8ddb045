// A map of a bounded size: the entries set last stay, so that what others invent cannot fill the memory.

export type Recent<Key, Value> = {
  readonly size: number
  get(key: Key): Value | undefined
  /** The entry becomes the newest. Past the bound, the oldest is forgotten. */
  set(key: Key, value: Value): void
  delete(key: Key): boolean
}

export const createRecent = <Key, Value>(most: number): Recent<Key, Value> => {
  const entries = new Map<Key, Value>()
  return {
    get size() {
      return entries.size
    },
    get: (key) => entries.get(key),
    set(key, value) {
      entries.delete(key)
      entries.set(key, value)
      if (entries.size <= most) return
      const oldest = entries.keys().next()
      if (!oldest.done) entries.delete(oldest.value)
    },
    delete: (key) => entries.delete(key),
  }
}
