// Refusals on their way to the store: gathered in memory, within a bound, and written beside the ledger in small groups, so
// that a flood of refused requests is no flood of writes.

import { HOUR_MS, startOfSpan } from '../lib/spans.ts'
import type { Later } from '../store/patience.ts'
import { KEPT_OF_KEY, type Refusal, type RefusalStore, type RefusedCount } from '../store/refusals.ts'
import { isStoreError } from '../store/store.ts'

export type Refusals = {
  /** Costs no write. */
  add(refusal: Refusal): void
  /** Writes what waits at this moment, in turns, as far as the store takes it: for whoever reads them next. */
  settle(): Promise<void>
  /** Writes all that waits, at once. Throws the cause where it cannot be written. */
  flush(): void
  /** How many wait to be written. */
  waiting(): number
}

type RefusalsOptions = {
  store: RefusalStore
  /** They have been written. */
  onWritten?: (refusals: readonly Refusal[]) => void
  /** So many were not kept one by one, since more came than are written; they count all the same. */
  onLost?: (count: number) => void
  /** Whether writes of more weight wait for the disk. */
  isBusy?: () => boolean
  later?: Later
}

/** Waits for a group to gather, and lies between two groups. */
const EVERY_MS = 250
const GROUP = 64
/** How many may wait in all. */
const MOST_WAITING = 4_096

export const createRefusals = ({
  store,
  onWritten = () => undefined,
  onLost = () => undefined,
  isBusy = () => false,
  later = (run, delayMs) => void setTimeout(run, delayMs).unref(),
}: RefusalsOptions): Refusals => {
  /** By number, in the order they came. */
  const waiting = new Map<number, Refusal>()
  /** The numbers of each key's. */
  const ofKey = new Map<string, number[]>()
  let counts = new Map<string, RefusedCount>()
  let numbered = 0
  let lost = 0
  let due = false

  const forget = (keyId: string): void => {
    const numbers = ofKey.get(keyId) ?? []
    const oldest = numbers.shift()
    if (oldest !== undefined) waiting.delete(oldest)
    if (numbers.length === 0) ofKey.delete(keyId)
  }

  /** The key whose oldest gives way: the one that is over its share, or else the one with most. */
  const keyToYield = (keyId: string): string => {
    if ((ofKey.get(keyId)?.length ?? 0) * ofKey.size >= MOST_WAITING) return keyId
    let most = keyId
    for (const [id, { length }] of ofKey) if (length > (ofKey.get(most)?.length ?? 0)) most = id
    return most
  }

  /** Writes the first that wait. A group that the database itself refuses is not tried again. */
  const writeGroup = (most: number): void => {
    const group = [...first(waiting, most)]
    const counted = [...counts.values()]
    if (group.length + counted.length === 0) return
    try {
      store.write(
        group.map(([, refusal]) => refusal),
        counted,
      )
    } catch (cause) {
      if (isStoreError(cause)) throw cause
      lost += group.length
    }
    counts = new Map()
    for (const [number, { keyId }] of group) {
      waiting.delete(number)
      const numbers = ofKey.get(keyId)
      numbers?.shift()
      if (numbers?.length === 0) ofKey.delete(keyId)
    }
    if (lost > 0) onLost(lost)
    lost = 0
    onWritten(group.map(([, refusal]) => refusal))
  }

  const schedule = (): void => {
    if (due) return
    due = true
    later(() => {
      due = false
      try {
        if (!isBusy()) writeGroup(GROUP)
      } catch {
        // The disk or another process: what waits is tried again, within the bound.
      }
      if (waiting.size + counts.size > 0) schedule()
    }, EVERY_MS)
  }

  return {
    add(refusal) {
      const { keyId, code } = refusal
      const hour = startOfSpan(refusal.at, HOUR_MS)
      const name = `${hour} ${code} ${keyId}`
      const count = counts.get(name)
      if (count === undefined) counts.set(name, { keyId, hour, code, count: 1 })
      else count.count++
      const numbers = ofKey.get(keyId) ?? []
      // Past so many, its oldest would not be kept in the store either.
      if (numbers.length >= KEPT_OF_KEY) forget(keyId)
      else if (waiting.size >= MOST_WAITING) {
        forget(keyToYield(keyId))
        lost++
      }
      const number = numbered++
      waiting.set(number, refusal)
      const kept = ofKey.get(keyId)
      if (kept === undefined) ofKey.set(keyId, [number])
      else kept.push(number)
      schedule()
    },
    async settle() {
      const end = numbered
      try {
        writeGroup(GROUP)
        // Not what comes meanwhile: in a flood that would have no end.
        while (first(waiting, 1).some(([number]) => number < end)) {
          await new Promise<void>((resolve) => setImmediate(resolve))
          writeGroup(GROUP)
        }
      } catch {
        // It is read without them.
      }
    },
    flush() {
      while (waiting.size + counts.size > 0) writeGroup(MOST_WAITING)
    },
    waiting: () => waiting.size,
  }
}

const first = (waiting: ReadonlyMap<number, Refusal>, most: number): [number, Refusal][] => {
  const group: [number, Refusal][] = []
  for (const entry of waiting) {
    if (group.length >= most) break
    group.push(entry)
  }
  return group
}
