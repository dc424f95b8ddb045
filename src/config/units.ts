// Durations and sizes as people write them.

import { DAY_MS, HOUR_MS } from '../lib/spans.ts'

const DURATION_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: HOUR_MS, d: DAY_MS }
const SIZE_BYTES: Record<string, number> = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }

/** Not zero: what counts as nothing is told apart by its schema. */
export const DURATION_PATTERN = '^(?=.*[1-9])\\d+(\\.\\d+)?(ms|s|m|h|d)$'
export const SIZE_PATTERN = '^(?=.*[1-9])\\d+(\\.\\d+)?(B|KB|MB|GB)$'

/** Whole milliseconds of `500ms`, `15s`, `10m`, `24h`, `90d`; undefined for anything else. `0` needs no unit. */
export const parseDuration = (text: string | number): number | undefined => {
  if (text === 0 || text === '0') return 0
  const found = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(String(text))
  const unit = DURATION_MS[found?.[2] ?? '']
  return found && unit ? Math.round(Number(found[1]) * unit) : undefined
}

/** Whole bytes of `512KB`, `25MB` (1 KB is 1024 bytes) or a plain number of bytes; undefined for anything else. */
export const parseSize = (text: string | number): number | undefined => {
  if (typeof text === 'number') return Number.isSafeInteger(text) && text >= 0 ? text : undefined
  const found = /^(\d+(?:\.\d+)?)(B|KB|MB|GB)$/.exec(text)
  const unit = SIZE_BYTES[found?.[2] ?? '']
  return found && unit ? Math.round(Number(found[1]) * unit) : undefined
}

/** The shortest exact way to write a size: 26214400 → `25MB`. */
export const formatSize = (bytes: number): string => {
  for (const unit of ['GB', 'MB', 'KB']) {
    const size = SIZE_BYTES[unit] ?? 1
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`
  }
  return `${bytes}B`
}
