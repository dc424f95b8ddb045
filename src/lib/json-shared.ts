// Members of large JSON that come again byte for byte, as an agent's tools do with every turn: what is parsed of one is kept,
// and shared by all that have it.

import { asBuffer } from './as-buffer.ts'
import { ARRAY, ARRAY_END } from './json-codes.ts'
import { isStepOver, type Steps } from './steps.ts'

/** `value`: what an outline has of it, frozen. `cut`: the long strings that are cut in that, by places in its own bytes. */
export type Shared = {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly value: object
  readonly cut: readonly number[]
}

export type Standing = { readonly shared: Shared; readonly start: number; readonly end: number }

export type SharedMembers = {
  /** The outermost member that is shared, where it is a list. */
  readonly name: string
  find(bytes: Uint8Array): Shared | undefined
  /** One that stands in this text where it stood in the last that had it, from its beginning or from its end. */
  again(text: Uint8Array): Standing | undefined
  /** It stands there in such a text. */
  stands(standing: Standing, text: Uint8Array): void
  /** A member that was not found, once it is parsed: kept when it has come before, for which it is frozen in steps. */
  noting(bytes: Uint8Array<ArrayBuffer>, made: () => Omit<Shared, 'bytes'>): Steps<void>
}

/** Smaller ones are parsed sooner than they are found. */
const LEAST_BYTES = 4 * 1024
/** What is kept in all. */
const MOST_BYTES = 1024 * 1024
/** What has come once is remembered by so many hashes. */
const MOST_SEEN = 64

export const createSharedMembers = (name: string, mostBytes = MOST_BYTES): SharedMembers => {
  /** The one used last comes first. */
  const kept: Shared[] = []
  /** How far from the beginning and from the end of a text each stood last. */
  const places = new WeakMap<Shared, { before: number; behind: number }>()
  let held = 0
  const seen = new Set<number | bigint>()

  const hasComeBefore = (bytes: Uint8Array): boolean => {
    const hash = Bun.hash.wyhash(bytes)
    if (seen.delete(hash)) return true
    seen.add(hash)
    const [oldest] = seen
    if (seen.size > MOST_SEEN && oldest !== undefined) seen.delete(oldest)
    return false
  }

  const used = (shared: Shared): Shared => {
    const at = kept.indexOf(shared)
    if (at > 0) kept.unshift(...kept.splice(at, 1))
    return shared
  }

  const standing = (text: Uint8Array, shared: Shared): Standing | undefined => {
    const place = places.get(shared)
    if (place === undefined) return undefined
    const { length } = shared.bytes
    for (const start of [place.before, text.length - place.behind - length]) {
      const end = start + length
      // Most that stand elsewhere are told apart so.
      if (text[start] !== ARRAY || text[end - 1] !== ARRAY_END) continue
      if (asBuffer(shared.bytes).equals(text.subarray(start, end))) return { shared, start, end }
    }
    return undefined
  }

  return {
    name,
    find(bytes) {
      if (bytes.byteLength < LEAST_BYTES) return undefined
      const found = kept.find((each) => each.bytes.length === bytes.length && asBuffer(each.bytes).equals(bytes))
      return found && used(found)
    },
    again(text) {
      for (const shared of kept) {
        const found = standing(text, shared)
        if (found === undefined) continue
        used(shared)
        return found
      }
      return undefined
    },
    stands: ({ shared, start, end }, text) => void places.set(shared, { before: start, behind: text.length - end }),
    *noting(bytes, made) {
      const { byteLength } = bytes
      if (byteLength < LEAST_BYTES || byteLength > mostBytes / 2 || !hasComeBefore(bytes)) return
      const { value, cut } = made()
      yield* freezing(value)
      // A buffer's own slice would share its memory.
      kept.unshift({ bytes: new Uint8Array(bytes), value, cut })
      held += byteLength
      while (held > mostBytes) held -= kept.pop()?.bytes.byteLength ?? held
    },
  }
}

/** To the last object in it: nobody's request may change what is in others'. */
function* freezing(value: object): Steps<void> {
  const left = [value]
  let done = 0
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    for (const one of Object.values(each)) if (typeof one === 'object' && one !== null) left.push(one)
    Object.freeze(each)
    if (isStepOver(done++)) yield
  }
}
