// Room in memory for what is held of an answer before the client can have any of it: a whole one, or one event.

import { unavailable } from '../errors.ts'

export type Room = {
  /** Takes so many bytes more for an answer that has `had`; false, having taken none, where there is no room for them. */
  take(had: number, bytes: number): boolean
  give(bytes: number): void
}

/** Room is taken in steps of this size. An answer that is smaller asks for none: nearly all are. */
export const STEP_BYTES = 1024 * 1024

/** What one answer holds. */
export type Hold = {
  /** So many bytes are held now. Throws `service_unavailable`, having ended the call, where there is no room for them. */
  bytes(held: number): void
  /** Nothing is held any more, and nothing will be. */
  end(): void
}

export const holdIn = (room: Room, abort: AbortController): Hold => {
  let taken = 0
  let ended = false
  const give = (bytes: number): void => {
    room.give(bytes)
    taken -= bytes
  }
  return {
    bytes(held) {
      const due = held < STEP_BYTES ? 0 : held
      if (taken - due >= STEP_BYTES) give(taken - due)
      if (ended || due - taken < STEP_BYTES) return
      if (!room.take(taken, due - taken)) {
        abort.abort()
        throw unavailable('has no room for an answer of this size now')
      }
      taken = due
    },
    end() {
      ended = true
      give(taken)
    },
  }
}
