// Load shedding by memory: whether the process holds more than it may, looked at seldom enough to cost nothing, and what
// the bodies that are still arriving will add.

import type { Room } from '../relay/room.ts'
import { residentBytes } from './process.ts'

export type Memory = {
  /**
   * Whether a request more is too much, beside those `inside`. `announcedBytes`: what the bodies still on their way and
   * its own come to (`Arriving.with`). With none inside one is always let in.
   */
  past(limitBytes: number, inside: number, announcedBytes: number): boolean
}

/** Between two looks, and while much is on its way. A burst may pass the limit by what arrives within it. */
const LOOK_EVERY_MS = 50
const LOOK_OFTEN_MS = 5
/** Between two collections asked for, at least. */
const COLLECT_EVERY_MS = 1_000
/** A collection stops everyone: of a large heap for so long that it must be rarer, by so many times what the last one took. */
const COLLECT_PAUSE = 20
/** A body is held about so many times while it is read, edited or translated, and sent. */
const COPIES = 4
/** So much on its way is much. */
const MUCH_BYTES = 1024 * 1024

export const createMemory = (
  read: () => number = residentBytes,
  collect: () => void = () => Bun.gc(true),
  stopwatch: () => number = () => performance.now(),
): Memory => {
  let lookedAt = Number.NEGATIVE_INFINITY
  let collectFrom = Number.NEGATIVE_INFINITY
  let bytes = 0
  return {
    past(limitBytes, inside, announcedBytes) {
      const toCome = announcedBytes * COPIES
      const now = stopwatch()
      if (now - lookedAt >= (announcedBytes > MUCH_BYTES ? LOOK_OFTEN_MS : LOOK_EVERY_MS)) {
        lookedAt = now
        bytes = read()
        // The runtime keeps what it may need again: only what is left after a collection counts.
        if (bytes + toCome > limitBytes && now >= collectFrom) {
          collect()
          const done = stopwatch()
          collectFrom = done + Math.max(COLLECT_EVERY_MS, (done - now) * COLLECT_PAUSE)
          bytes = read()
        }
      }
      return bytes + toCome > limitBytes && inside > 0
    },
  }
}

/** A body is small up to here: most clients send no larger one. */
const SMALL_BYTES = 64 * 1024
/** This part of the limit is for small bodies alone: two keys whose large ones wait could keep everyone out. */
const SMALL_PART = 1 / 16

/** The part of the limit, in bytes, within which a body of so many is let in. */
export const limitFor = (bytes: number, limitBytes: number): number =>
  bytes > SMALL_BYTES ? limitBytes * (1 - SMALL_PART) : limitBytes

/** Of so many processes that share a limit one's own, which has its part of it. */
export const partOf = (memory: Memory, processes: number): Memory =>
  processes === 1
    ? memory
    : { past: (limitBytes, inside, announcedBytes) => memory.past(limitBytes / processes, inside, announcedBytes) }

/** An answer that is alone is let in up to this part of the limit. */
const ALONE_PART = 1 / 8

/** Room for whole answers within the limit, which `limitBytes` tells; 0 is none. */
export const createRoom = (memory: Memory, limitBytes: () => number): Room => {
  let held = 0
  return {
    take(had, bytes) {
      const limit = limitBytes()
      const alone = held === had && had + bytes <= limit * ALONE_PART
      if (limit > 0 && memory.past(limitFor(bytes, limit), alone ? 0 : 1, held + bytes)) return false
      held += bytes
      return true
    },
    give(bytes) {
      held -= bytes
    },
  }
}

/** Requests that are not admitted yet, and the bytes of their bodies. */
export type Arriving = {
  readonly count: number
  /** What they announced, and what they grew by beyond that. */
  readonly bytes: number
  /** Whose they are. */
  readonly keys: number
  /** How many of them are one key's. */
  countOf(keyId: string): number
  add(keyId: string, bytes: number): void
  /** One of them has so many bytes more than it announced. */
  grow(keyId: string, bytes: number): void
  /** So many bytes more of them are held by now: the process has grown by these already. */
  hold(bytes: number): void
  /** Takes back what was added, what it grew by, and what is held of it. */
  remove(keyId: string, bytes: number, held: number): void
  /**
   * What they come to with a body more, of which `counted` bytes are counted already. What its key has on the way already
   * counts twice: to announce costs nothing, and so no key has more than half of the room. What is held of them counts once
   * less: the process has it already.
   */
  with(keyId: string, bytes: number, counted?: number): number
}

export const createArriving = (): Arriving => {
  const byKey = new Map<string, { count: number; bytes: number }>()
  let count = 0
  let total = 0
  let held = 0
  const bytesOf = (keyId: string): number => byKey.get(keyId)?.bytes ?? 0
  const change = (keyId: string, requests: number, bytes: number): void => {
    count += requests
    total += bytes
    const own = byKey.get(keyId)
    if (own === undefined) {
      byKey.set(keyId, { count: requests, bytes })
      return
    }
    own.count += requests
    own.bytes += bytes
    if (own.count === 0) byKey.delete(keyId)
  }
  return {
    get count() {
      return count
    },
    get bytes() {
      return total
    },
    get keys() {
      return byKey.size
    },
    countOf: (keyId) => byKey.get(keyId)?.count ?? 0,
    add: (keyId, bytes) => change(keyId, 1, bytes),
    grow: (keyId, bytes) => change(keyId, 0, bytes),
    hold: (bytes) => {
      held += bytes
    },
    remove: (keyId, bytes, heldOfIt) => {
      change(keyId, -1, -bytes)
      held -= heldOfIt
    },
    with: (keyId, bytes, counted = 0) =>
      bytes + Math.max(total - counted, 2 * (bytesOf(keyId) - counted)) - held / COPIES,
  }
}
