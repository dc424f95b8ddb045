// The tags of a key: so many a day, or a client that makes up a new one for each request would fill the sums with them.

/** What is past the bound is billed as this. */
export const OTHER_TAGS = '(other)'
/** Of one key on a day. */
export const MOST_TAGS = 100

/** `known`: those that a key has on a day, from the store. Answers by what an exchange is billed as. */
export const createTags = (known: (keyId: string, day: number) => Iterable<string>, dayOf: (at: number) => number) => {
  let day = -1
  let ofKeys = new Map<string, Set<string>>()
  return (keyId: string, tag: string, at: number): string => {
    const today = dayOf(at)
    if (today !== day) {
      day = today
      ofKeys = new Map()
    }
    let tags = ofKeys.get(keyId)
    if (tags === undefined) {
      tags = new Set(known(keyId, today))
      ofKeys.set(keyId, tags)
    }
    if (tags.has(tag)) return tag
    if (tags.size >= MOST_TAGS) return OTHER_TAGS
    tags.add(tag)
    return tag
  }
}
