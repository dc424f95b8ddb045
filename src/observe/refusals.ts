// Refusals on their way to the store: gathered in memory, within a bound, and written beside the ledger in small groups, so
// that a flood of refused requests is no flood of writes.

import { type Calendar, UTC } from '../lib/calendar.ts'
import { createInOrder } from '../lib/in-order.ts'
import type { Later } from '../store/patience.ts'
import {
  KEPT_OF_KEY,
  type Refusal,
  type RefusalGroup,
  type RefusalStore,
  type RefusedCount,
} from '../store/refusals.ts'
import { isStoreError } from '../store/store.ts'

export type Refusals = {
  /** Costs no write. */
  add(refusal: Refusal): void
  /** Writes what waits at this moment, in turns, as far as the store takes it: for whoever reads them next. */
  settle(): Promise<void>
  /** Writes all that waits. Throws the cause where it cannot be written. */
  flush(): Promise<void>
  /** How many wait to be written. */
  waiting(): number
}

type RefusalsOptions = {
  store: RefusalStore
  /** By whose clocks their hours go. */
  calendar?: Pick<Calendar, 'hourOf'>
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
  calendar = UTC,
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
  const inOrder = createInOrder()
  /** Being written, or of unknown end: said again as it was before any other, so that it is written once. */
  let said: RefusalGroup | undefined
  let numbered = 0
  let lost = 0
  let due = false

  const addCount = (keyId: string, hour: number, code: string, more: number): void => {
    const name = `${hour} ${code} ${keyId}`
    const known = counts.get(name)
    if (known === undefined) counts.set(name, { keyId, hour, code, count: more })
    else known.count += more
  }

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

  /** The first that wait, with all that is counted by then. */
  const take = (most: number): RefusalGroup => {
    const group = first(waiting, most)
    for (const [number, { keyId }] of group) {
      waiting.delete(number)
      const numbers = ofKey.get(keyId)
      numbers?.shift()
      if (numbers?.length === 0) ofKey.delete(keyId)
    }
    const counted = [...counts.values()]
    counts = new Map()
    return { refusals: group.map(([, refusal]) => refusal), counts: counted }
  }
  const saidCount = (): number => said?.refusals.length ?? 0
  const isDone = (): boolean => said === undefined && waiting.size + counts.size === 0

  /** A group that the database itself refuses is not tried again, and counts all the same. */
  const writeGroup = async (most: number): Promise<void> => {
    if (isDone()) return
    const group = said ?? take(most)
    said = group
    try {
      await store.write(group)
      said = undefined
    } catch (cause) {
      if (isStoreError(cause)) throw cause
      lost += group.refusals.length
      said = group.refusals.length === 0 ? undefined : { refusals: [], counts: group.counts }
      if (said !== undefined) await writeGroup(most)
    }
    if (lost > 0) onLost(lost)
    lost = 0
    onWritten(group.refusals)
  }

  const schedule = (): void => {
    if (due) return
    due = true
    later(() => void writeNext(), EVERY_MS)
  }
  const writeNext = async (): Promise<void> => {
    try {
      if (!isBusy()) await inOrder(() => writeGroup(GROUP))
    } catch {
      // The disk or another process: what waits is tried again, within the bound.
    }
    due = false
    if (!isDone()) schedule()
  }

  return {
    add(refusal) {
      const { keyId, code } = refusal
      const hour = calendar.hourOf(refusal.at)
      addCount(keyId, hour, code, 1)
      const numbers = ofKey.get(keyId) ?? []
      // Past so many, its oldest would not be kept in the store either.
      if (numbers.length >= KEPT_OF_KEY) forget(keyId)
      else if (waiting.size + saidCount() >= MOST_WAITING) {
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
        await inOrder(() => writeGroup(GROUP))
        // Not what comes meanwhile: in a flood that would have no end.
        while (first(waiting, 1).some(([number]) => number < end)) {
          await new Promise<void>((resolve) => setImmediate(resolve))
          await inOrder(() => writeGroup(GROUP))
        }
      } catch {
        // It is read without them.
      }
    },
    async flush() {
      while (!isDone()) await inOrder(() => writeGroup(MOST_WAITING))
    },
    waiting: () => waiting.size + saidCount(),
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
