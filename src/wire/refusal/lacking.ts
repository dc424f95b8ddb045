// What a sentence of a refusal is asked of, and what it tells of the request.

import type { Remedy } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import type { ChatWire } from '../../ir/wire.ts'
import type { Place } from './member-path.ts'

/** `remedy`: how it is asked otherwise. `advice`: what the client can do, where no remedy helps. */
export type Lacking = { place: Place; remedy?: Remedy; named?: readonly string[]; advice?: string; ofSettings?: true }

export type Asking = { wire: ChatWire; sent: JsonObject; said: string }

export const at = (place: Place | undefined, more: Omit<Lacking, 'place'> = {}): Lacking | undefined =>
  place && { place, ...more }
