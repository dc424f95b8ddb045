// Load shedding by file descriptors: every connection takes one, and a provider call that gets none fails.

import { canOpen } from '../lib/descriptors.ts'
import type { Connection, Sockets } from '../lib/sockets.ts'

export type Descriptors = {
  /** Whether so few are left that nobody more should be let in. `inside`: how many are, where many may come at once. */
  short(inside?: number): boolean
  /** The same, and whether they were a moment ago: what has just been closed makes room for as many who wait. */
  shortLately(): boolean
  /** Whether they were at any look since this was last asked. */
  wereShort(): boolean
}

/** What those who are inside may still need: connections to providers, names looked up, threads, copies. */
export const SPARE = 32
/** Between two looks, in time and in those who came in. */
const LOOK_EVERY_MS = 50
const LOOK_EVERY_ENTRIES = SPARE / 4
const LATELY_MS = 1_000

export const createDescriptors = (canOpenMore = (): boolean => canOpen(SPARE)): Descriptors => {
  let lookedAt = Number.NEGATIVE_INFINITY
  let insideThen = 0
  let short = false
  let shortAt = Number.NEGATIVE_INFINITY
  let wereShort = false
  const isShort = (inside = insideThen): boolean => {
    const now = performance.now()
    if (now - lookedAt >= LOOK_EVERY_MS || inside - insideThen >= LOOK_EVERY_ENTRIES) {
      lookedAt = now
      insideThen = inside
      short = !canOpenMore()
      wereShort ||= short
      if (short) shortAt = now
    }
    return short
  }
  return {
    short: isShort,
    // By the last look, which is as good as now: this is asked with every answer.
    shortLately: () => isShort() || lookedAt - shortAt < LATELY_MS,
    wereShort() {
      const were = wereShort
      wereShort = false
      return were
    },
  }
}

/** How often it is looked at while nobody asks anything. */
const ROUND_MS = 200
/** And while they are short: as many as were closed come in from those who wait to be accepted, before the others do. */
const SHORT_ROUND_MS = 50
const TELL_EVERY_MS = 60_000

type WatchOptions = {
  /** Has connections closed that others need more. */
  makeRoom: () => void
  tell: (message: string) => void
  /** Calls once after so many milliseconds; returns what calls that off. Tests give their own. */
  later?: (run: () => void, ms: number) => () => void
}

const onTimer = (run: () => void, ms: number): (() => void) => {
  const timer = setTimeout(run, ms)
  timer.unref()
  return () => clearTimeout(timer)
}

/** While they are short, has room made; says so also where they were for a moment only. Runs until the returned function is called. */
export const watchDescriptors = (
  descriptors: Descriptors,
  { makeRoom, tell, later = onTimer }: WatchOptions,
): (() => void) => {
  let toldAt = Number.NEGATIVE_INFINITY
  const round = (): void => {
    const isShort = descriptors.short()
    callOff = later(round, isShort ? SHORT_ROUND_MS : ROUND_MS)
    if (isShort) makeRoom()
    if (!descriptors.wereShort()) return
    if (performance.now() - toldAt < TELL_EVERY_MS) return
    toldAt = performance.now()
    tell(
      'few descriptors are left: new requests answer 503, and connections without a request are closed. Raise "ulimit -n"',
    )
  }
  let callOff = later(round, ROUND_MS)
  return () => callOff()
}

/** A connection without a request, or the whole of one, is given so long while descriptors are short. */
const QUIET_MS = 150
/** One on which something has come that is not read yet, as of a request that is sent in this moment: so long. */
const UNREAD_MS = 1_000
/** One whose client takes nothing of its last answer: so long, as networks pause. */
const STALLED_MS = 5_000
/** Of what descriptors there can be, those that may be waited for so together: more who read nothing are no pause. */
const STALLED_SHARE = 1 / 4
/** Descriptors looked at in one round, so that none takes long. */
const MOST_AT_ONCE = 4_096

/** What connections of a server are chosen from. */
export type Door = { port: number; busyPeers(): Set<number> }

type Seen = Connection & { since: number }

/**
 * Hangs up on connections that hold a descriptor for nothing: no request has come whole on them since the last round, or
 * nobody reads the answer. Those with a request under way are left alone. `most`: descriptors there can be.
 */
export const createHangingUp = (sockets: Sockets, most: number, stopwatch = (): number => performance.now()) => {
  const seen = new Map<number, Seen>()
  let from = 0
  const look = (fd: number, busyAt: ReadonlyMap<number, Set<number>>, now: number): void => {
    const before = seen.get(fd)
    seen.delete(fd)
    for (const [port, busy] of busyAt) {
      const found = sockets.at(fd, port)
      if (found === undefined || busy.has(found.peer)) continue
      const same = before?.peer === found.peer && before.unsent === found.unsent
      const since = same ? before.since : now
      if (now - since >= givenTo(found)) sockets.hangUp(fd)
      else seen.set(fd, { ...found, since })
    }
  }
  return (open: readonly Door[]): void => {
    const now = stopwatch()
    // Of several processes the owner has two doors that go by one port: any of them knows of a request.
    const busyAt = new Map<number, Set<number>>()
    for (const door of open) busyAt.set(door.port, door.busyPeers().union(busyAt.get(door.port) ?? NOBODY))
    const until = Math.min(most, from + MOST_AT_ONCE)
    for (let fd = from; fd < until; fd++) look(fd, busyAt, now)
    from = until === most ? 0 : until
    const stalled = [...seen].filter(([, { unsent, since }]) => unsent > 0 && now - since >= QUIET_MS)
    stalled.sort(([, one], [, other]) => one.since - other.since)
    for (const [fd] of stalled.slice(0, Math.max(0, stalled.length - most * STALLED_SHARE))) sockets.hangUp(fd)
  }
}

const givenTo = ({ unsent, unread }: Connection): number =>
  unsent > 0 ? STALLED_MS : unread > 0 ? UNREAD_MS : QUIET_MS

const NOBODY: ReadonlySet<number> = new Set()
