// Usage of the images wire: input and output tokens, the output being image tokens.

import { isObject } from '../../ir/json.ts'
import type { Usage } from '../../ir/usage.ts'

/** `input_tokens` includes cached ones where the vendor names them. */
export const decodeUsage = (raw: unknown): Usage | undefined => {
  if (!isObject(raw)) return undefined
  const usage: Usage = {}
  const details = isObject(raw.input_tokens_details) ? raw.input_tokens_details : {}
  const cached = typeof details.cached_tokens === 'number' ? details.cached_tokens : undefined
  if (typeof raw.input_tokens === 'number') usage.input = Math.max(0, raw.input_tokens - (cached ?? 0))
  if (cached !== undefined) usage.cacheRead = cached
  if (typeof raw.output_tokens === 'number') usage.output = raw.output_tokens
  return Object.keys(usage).length > 0 ? usage : undefined
}
