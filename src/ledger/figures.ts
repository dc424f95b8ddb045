// Providers' figures as the store takes them: they are not trusted. One that is no count must not fail the write of all
// others.

import { KIND_PARTS, type Usage } from '../ir/usage.ts'
import type { Settlement } from './ledger.ts'

/** No vendor nests its figures deeper than three, or writes more than a thousand characters of them. */
const RAW_DEPTH = 16
const RAW_CHARS = 64 * 1024

/** JSON text. One that is nested too deeply could take seconds to write, a large one would fill the disk: left out. */
export const toText = (raw: Settlement['rawUsage']): string | undefined => {
  const text = raw !== undefined && nestsWithin(raw, RAW_DEPTH) ? JSON.stringify(raw) : ''
  return text === '' || text.length > RAW_CHARS ? undefined : text
}

const nestsWithin = (value: object, depth: number): boolean => {
  if (depth === 0) return false
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null && !nestsWithin(member, depth - 1)) return false
  }
  return true
}

/** A whole number, 0 for anything that is no count. */
export const toCount = (figure: number): number =>
  figure > 0 && figure < Number.MAX_SAFE_INTEGER ? Math.round(figure) : 0

export const wholeCounts = (usage: Usage): Usage => {
  const counted: Usage = {}
  if (usage.input !== undefined) counted.input = toCount(usage.input)
  if (usage.cacheRead !== undefined) counted.cacheRead = toCount(usage.cacheRead)
  if (usage.cacheWrite !== undefined) counted.cacheWrite = toCount(usage.cacheWrite)
  if (usage.cacheWrite1h !== undefined)
    counted.cacheWrite1h = Math.min(toCount(usage.cacheWrite1h), counted.cacheWrite ?? 0)
  if (usage.output !== undefined) counted.output = toCount(usage.output)
  if (usage.reasoning !== undefined) counted.reasoning = toCount(usage.reasoning)
  for (const [part, whole] of KIND_PARTS) {
    const of = usage[part]
    if (of !== undefined) counted[part] = Math.min(toCount(of), counted[whole] ?? 0)
  }
  if (usage.serviceTier !== undefined) counted.serviceTier = usage.serviceTier
  if (usage.inferenceGeo !== undefined) counted.inferenceGeo = usage.inferenceGeo
  if (usage.charged !== undefined) counted.charged = toCount(usage.charged)
  if (usage.apart !== undefined)
    counted.apart = usage.apart.map(({ usage: of, ...by }) => ({ ...by, usage: wholeCounts(of) }))
  return counted
}
