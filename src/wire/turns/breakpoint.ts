// Cache markers on vendor_b's wires, which have explicit breakpoints: decoded from its clients, and encoded for it.

import { isObject, type JsonObject } from '../../ir/json.ts'
import type { CacheMark } from '../../ir/part.ts'
import { placed, placeOf } from '../../ir/place.ts'
import type { Quirks } from '../../ir/quirks.ts'
import type { ChatWire } from '../../ir/wire.ts'

/**
 * A part's marker: a breakpoint or the messages wire's `cache_control`, which clients of several vendors send here, too.
 * These wires cache for 30 minutes (their default) or 12 hours, the IR for 5 minutes (its default) or an hour: the longer
 * one becomes the longer one.
 */
export const decodeBreakpoint = (part: JsonObject, path: string): { cache?: CacheMark } => {
  const name = isObject(part.prompt_cache_breakpoint) ? 'prompt_cache_breakpoint' : 'cache_control'
  const mark = part[name]
  if (!isObject(mark)) return {}
  const ttl = mark.ttl === '12h' ? '1h' : mark.ttl
  return { cache: placed<CacheMark>(ttl === '1h' || ttl === '5m' ? { ttl } : {}, `${path}.${name}`) }
}

/**
 * The member that makes a part a breakpoint; empty without a marker. The vendor caches for half an hour, its default, or
 * twelve hours: a marker of one hour becomes twelve. `drop` is called with the path of a marker that is left out.
 */
export const encodeBreakpoint = (
  cache: CacheMark | undefined,
  path: string,
  { origin, quirks, drop }: { origin: ChatWire; quirks: Quirks; drop(path: string): void },
): JsonObject => {
  if (cache === undefined) return {}
  // Clients of every wire send `cache_control` in the style of the messages wire. Most models of the vendor refuse
  // breakpoints, so these are translated only for a model that is known to need them.
  const isCacheControl = origin === 'messages' || placeOf(cache, path).endsWith('.cache_control')
  if (isCacheControl && !quirks.cacheBreakpoints) {
    dropMark({ cache }, path, { drop })
    return {}
  }
  return { prompt_cache_breakpoint: { mode: 'explicit', ...(cache.ttl === '1h' ? { ttl: '12h' } : {}) } }
}

/** Lists a marker as dropped, by the client's own path, where the wire has no breakpoint. */
export const dropMark = (
  { cache }: { cache?: CacheMark },
  path: string,
  { drop }: { drop(path: string): void },
): void => {
  if (cache !== undefined) drop(placeOf(cache, `${path}.cache_control`))
}
