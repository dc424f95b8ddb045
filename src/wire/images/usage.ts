// Usage of the images wire: input and output tokens, the output being image tokens.

import { isObject } from '../../ir/json.ts'
import { count, disjoint, type Usage } from '../../ir/usage.ts'

/** `input_tokens` includes cached ones where the vendor names them. */
export const decodeUsage = (raw: unknown): Usage | undefined => {
  if (!isObject(raw)) return undefined
  const details = isObject(raw.input_tokens_details) ? raw.input_tokens_details : {}
  const usage = disjoint({
    prompt: count(raw.input_tokens),
    cacheRead: count(details.cached_tokens),
    cacheWrite: undefined,
    output: count(raw.output_tokens),
    reasoning: undefined,
    total: count(raw.total_tokens),
  })
  return Object.keys(usage).length > 0 ? usage : undefined
}

/** Of several images each with its own figures; a class that one of them leaves out counts for the others. */
export const sum = (one: Usage | undefined, other: Usage | undefined): Usage | undefined => {
  if (one === undefined || other === undefined) return one ?? other
  const total: Usage = { ...one }
  for (const name of ['input', 'cacheRead', 'output'] as const) {
    const more = other[name]
    if (more !== undefined) total[name] = (total[name] ?? 0) + more
  }
  return total
}
