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

export const holdIn = (room: Room, abort: AbortController): Hold => new Held(room, abort)

class Held implements Hold {
  readonly #room: Room
  readonly #abort: AbortController
  #taken = 0
  #ended = false

  constructor(room: Room, abort: AbortController) {
    this.#room = room
    this.#abort = abort
  }

  bytes(held: number): void {
    const due = held < STEP_BYTES ? 0 : held
    if (this.#taken - due >= STEP_BYTES) this.#give(this.#taken - due)
    if (this.#ended || due - this.#taken < STEP_BYTES) return
    if (!this.#room.take(this.#taken, due - this.#taken)) {
      this.#abort.abort()
      throw unavailable('has no room for an answer of this size now')
    }
    this.#taken = due
  }

  end(): void {
    this.#ended = true
    this.#give(this.#taken)
  }

  #give(bytes: number): void {
    this.#room.give(bytes)
    this.#taken -= bytes
  }
}
