// Usage as the messages wire reports it: classes are already disjoint there, so the mapping is a renaming.

import { isObject, type JsonObject } from '../../ir/json.ts'
import { count, inTier, type Usage, updated } from '../../ir/usage.ts'

/**
 * Absent where the object holds no count at all. `cache_creation` by lifetime stands in where its sum is missing. Rounds
 * billed beside the answer's own (a summary of the conversation, the advice of another model, what a model wrote before
 * it declined and another stood in) stand in `iterations` alone: they are added. Source: the usage object of the
 * messages API, 2026-11.
 */
export const decodeUsage = (raw: unknown): Usage | undefined => {
  if (!isObject(raw)) return undefined
  const usage = classesOf(raw)
  const details = raw.output_tokens_details
  const reasoning = isObject(details) ? count(details.thinking_tokens) : undefined
  if (reasoning !== undefined) usage.reasoning = reasoning
  if (Array.isArray(raw.iterations)) {
    const rounds = raw.iterations.filter(isObject)
    const standIn = rounds.findLast(({ type }) => type === 'fallback_message')
    for (const round of rounds) {
      if (isOwn(round, standIn)) continue
      const beside = classesOf(round)
      // A class the object itself leaves out was told before, without this round: it cannot be added to.
      for (const name of CLASSES) if (usage[name] !== undefined) usage[name] += beside[name] ?? 0
      const hour = beside.cacheWrite1h
      if (usage.cacheWrite !== undefined && hour !== undefined) usage.cacheWrite1h = (usage.cacheWrite1h ?? 0) + hour
    }
  }
  return Object.keys(usage).length === 0 ? undefined : usage
}

/**
 * Whether the object's own sums hold the round, or nobody is billed for it: a model that declined before it wrote
 * anything. `standIn`: the last round of the model that answered for it.
 */
const isOwn = ({ type, model, output_tokens: output }: JsonObject, standIn: JsonObject | undefined): boolean =>
  (type === 'message' || type === 'fallback_message') &&
  (standIn === undefined || model === standIn.model || !count(output))

const PROMPT = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'cache_creation'] as const

/** A stream's usage object with a later report of it. One that has no prompt at all, after one was told, leaves it out. */
export const withReport = (before: JsonObject | undefined, report: JsonObject): JsonObject => {
  const told = { ...report }
  if (promptOf(report) === 0 && before !== undefined && promptOf(before) > 0)
    for (const name of PROMPT) delete told[name]
  return updated(before, told)
}

const promptOf = (raw: JsonObject): number => {
  const { input = 0, cacheRead = 0, cacheWrite = 0 } = classesOf(raw)
  return input + cacheRead + cacheWrite
}

const CLASSES = ['input', 'cacheRead', 'cacheWrite', 'output'] as const

const classesOf = (raw: JsonObject): Usage => {
  const usage: Usage = {}
  const input = count(raw.input_tokens)
  if (input !== undefined) usage.input = input
  const cacheRead = count(raw.cache_read_input_tokens)
  if (cacheRead !== undefined) usage.cacheRead = cacheRead
  const cacheWrite = count(raw.cache_creation_input_tokens) ?? sumByLifetime(raw.cache_creation)
  if (cacheWrite !== undefined) usage.cacheWrite = cacheWrite
  const hour = isObject(raw.cache_creation) ? count(raw.cache_creation.ephemeral_1h_input_tokens) : undefined
  if (cacheWrite !== undefined && hour !== undefined && hour > 0) usage.cacheWrite1h = Math.min(hour, cacheWrite)
  const output = count(raw.output_tokens)
  if (output !== undefined) usage.output = output
  return usage
}

/** The `usage` of a whole message, with every member the current API always sends. */
export const encodeUsage = (usage: Usage, serviceTier?: string): JsonObject => ({
  ...encodeUsageDelta(usage),
  cache_creation: lifetimesOf(usage),
  service_tier: serviceTier ?? null,
  inference_geo: null,
})

const lifetimesOf = ({ cacheWrite = 0, cacheWrite1h }: Usage): JsonObject | null =>
  cacheWrite1h === undefined
    ? null
    : { ephemeral_5m_input_tokens: cacheWrite - cacheWrite1h, ephemeral_1h_input_tokens: cacheWrite1h }

/** The cumulative `usage` of a `message_delta` event. */
export const encodeUsageDelta = (usage: Usage): JsonObject => ({
  input_tokens: usage.input ?? 0,
  cache_creation_input_tokens: usage.cacheWrite ?? null,
  cache_read_input_tokens: usage.cacheRead ?? null,
  output_tokens: usage.output ?? 0,
  ...(usage.reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: usage.reasoning } }),
})

/** The class of service that a usage object tells of; `fast` is told beside the others. */
export const tierIn = ({ speed, service_tier: tier }: JsonObject): string | undefined => {
  if (speed === 'fast') return speed
  return typeof tier === 'string' ? tier : undefined
}

/** The figures of a usage object in its class of service. */
export const decodeBilled = (raw: JsonObject): Usage | undefined => inTier(decodeUsage(raw), tierIn(raw))

/** The tier an answer was served from, in this wire's words where it has one. */
export const encodeTier = (tier: string | undefined): string | undefined =>
  tier === undefined ? undefined : TIERS.get(tier)

const TIERS = new Map([
  ['default', 'standard'],
  ['standard', 'standard'],
  ['priority', 'priority'],
  ['batch', 'batch'],
])

const sumByLifetime = (raw: unknown): number | undefined => {
  if (!isObject(raw)) return undefined
  const short = count(raw.ephemeral_5m_input_tokens)
  const long = count(raw.ephemeral_1h_input_tokens)
  return short === undefined && long === undefined ? undefined : (short ?? 0) + (long ?? 0)
}
