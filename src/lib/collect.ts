// Collections asked for where much has just become garbage: the runtime counts what lies outside of its heap too late, and
// the next step would take as much again.

import { edenGC } from 'bun:jsc'

/** Less is left to the runtime. */
const MUCH_BYTES = 8 * 1024 * 1024
/** A collection stops everyone: the next is not asked for before so many times what the last one took. */
const PAUSE = 20

let notBefore = 0

/** After a step that has left about so many bytes. */
export const collectAfter = (bytes: number): void => {
  if (bytes >= MUCH_BYTES && performance.now() >= notBefore) collect()
}

/** What becomes of less is left to the runtime. */
const MUCH_READ_BYTES = 1024 * 1024

/**
 * After so many bytes of JSON have been read into other objects: a kilobyte or two is left behind for each turn of a conversation.
 * Only what is new is looked through, so it takes no longer for what else is open.
 */
export const collectNewAfter = (bytes: number): void => {
  if (bytes >= MUCH_READ_BYTES) edenGC()
}

const collect = (): void => {
  const begun = performance.now()
  Bun.gc(true)
  const done = performance.now()
  notBefore = done + (done - begun) * PAUSE
  left = 0
}

/** What requests leave behind that came together outlives the runtime's quick collections: it finds them all in use. */
const QUIET_BYTES = 24 * 1024 * 1024
/** How long none may have left anything: while they come, the runtime collects what it needs. */
const QUIET_MS = 1_000
/** Of a request beside its body. */
const REQUEST_BYTES = 32 * 1024

/** About what requests have left behind since the last collection. */
let left = 0
let isAwaited = false

/** A request with so large a body has been answered, or needs it no more: collected with others' once it is quiet. */
export const collectOnceQuiet = (bytes: number): void => {
  left += REQUEST_BYTES + bytes
  if (left < QUIET_BYTES || isAwaited) return
  isAwaited = true
  awaitQuiet(left)
}

const awaitQuiet = (before: number): void => {
  const look = (): void => {
    // A step may have collected it since.
    const isLeft = left >= QUIET_BYTES
    const isQuiet = left === before && performance.now() >= notBefore
    isAwaited = isLeft && !isQuiet
    if (isAwaited) awaitQuiet(left)
    else if (isLeft) collect()
  }
  setTimeout(look, QUIET_MS).unref()
}
