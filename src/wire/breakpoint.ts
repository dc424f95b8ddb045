// Cache markers on their way to vendor_b, whose wires know explicit breakpoints.

import type { JsonObject } from '../ir/json.ts'
import type { CacheMark } from '../ir/part.ts'
import { placeOf } from '../ir/place.ts'
import type { ChatWire } from '../ir/wire.ts'

/**
 * The member that makes a part a breakpoint; none without a marker. The vendor knows half an hour, its default, and
 * twelve hours: a marker of an hour becomes one of twelve. `drop` is told of a marker that is left out.
 */
export const encodeBreakpoint = (
  cache: CacheMark | undefined,
  path: string,
  { origin, drop }: { origin: ChatWire; drop(path: string): void },
): JsonObject => {
  if (cache === undefined) return {}
  // Markers of the messages wire, whoever writes them, would be refused by most of the vendor's models.
  if (origin === 'messages' || placeOf(cache, path).endsWith('.cache_control')) {
    dropMark({ cache }, path, { drop })
    return {}
  }
  return { prompt_cache_breakpoint: { mode: 'explicit', ...(cache.ttl === '1h' ? { ttl: '12h' } : {}) } }
}

/** Lists a marker where the wire has no breakpoint, by the name its client gave it. */
export const dropMark = (
  { cache }: { cache?: CacheMark },
  path: string,
  { drop }: { drop(path: string): void },
): void => {
  if (cache !== undefined) drop(placeOf(cache, `${path}.cache_control`))
}
