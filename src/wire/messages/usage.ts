// Usage as the messages wire reports it: its classes are disjoint already, so that only names change.

import { asObject, asObjects, isObject, type JsonObject } from '../../ir/json.ts'
import { type Apart, CLASSES, count, disjoint, inCharge, inTier, mergeReport, sum, type Usage } from '../../ir/usage.ts'

/**
 * Undefined where the object holds no count at all. Without a total of cache writes, or beside one of nothing, those by lifetime
 * are added up. Rounds that are billed besides the answer's own (a summary of the conversation, the advice of another model, the
 * output of a model that declined and was replaced) are reported in `iterations` only: they are added, each to be billed by itself,
 * as is all that a model took which stood in. Source: the usage object of the messages API, 2026-11.
 */
export const decodeUsage = (raw: unknown): Usage | undefined => {
  if (!isObject(raw)) return undefined
  const usage = classesOf(raw)
  const details = raw.output_tokens_details
  const reasoning = isObject(details) ? count(details.thinking_tokens) : undefined
  if (reasoning !== undefined) usage.reasoning = reasoning
  const rounds = asObjects(raw.iterations)
  const fallback = rounds.findLast(({ type }) => type === 'fallback_message')
  if (fallback === undefined) coverRounds(usage, summed(rounds.filter((round) => isIncluded(round, undefined))))
  const others = rounds.filter((round) => !isIncluded(round, fallback))
  const apart = others.flatMap((round) => apartOf(round, classesOf(round), usage))
  if (fallback !== undefined) apart.push(...apartOf(fallback, usage, usage))
  const beside = summed(others)
  // A class that this report leaves out was reported earlier, without these rounds: it cannot be added to.
  for (const name of CLASSES) if (usage[name] !== undefined) usage[name] += beside[name] ?? 0
  if (apart.length > 0) usage.apart = apart
  const hour = beside.cacheWrite1h
  if (usage.cacheWrite !== undefined && hour !== undefined) usage.cacheWrite1h = (usage.cacheWrite1h ?? 0) + hour
  if (Object.keys(usage).length === 0) return undefined
  const geo = raw.inference_geo
  return inCharge(typeof geo === 'string' && !NO_REGION.has(geo) ? { ...usage, inferenceGeo: geo } : usage, raw)
}

/**
 * Each round is billed, but where one of the provider's own tools ran between two, the vendor's totals may hold the prompt
 * of the first alone.
 */
const coverRounds = (usage: Usage, own: Usage): void => {
  for (const name of CLASSES) {
    const total = usage[name]
    if (total !== undefined) usage[name] = Math.max(total, own[name] ?? 0)
  }
  const hour = Math.min(own.cacheWrite1h ?? 0, usage.cacheWrite ?? 0)
  if (hour > (usage.cacheWrite1h ?? 0)) usage.cacheWrite1h = hour
}

/** Of the classes that the report tells. */
const apartOf = ({ model }: JsonObject, of: Usage, told: Usage): Apart[] => {
  const usage: Apart['usage'] = {}
  for (const name of CLASSES) if (told[name] !== undefined && of[name] !== undefined) usage[name] = of[name]
  if (usage.cacheWrite !== undefined && of.cacheWrite1h !== undefined) usage.cacheWrite1h = of.cacheWrite1h
  if (Object.keys(usage).length === 0) return []
  return [typeof model === 'string' ? { model, usage } : { usage }]
}

const summed = (rounds: JsonObject[]): Usage =>
  rounds.reduce<Usage | undefined>((total, round) => sum(total, classesOf(round)), undefined) ?? {}

/** Values of `inference_geo` for inference that may run anywhere, and for models that it cannot be asked of. */
const NO_REGION = new Set(['', 'global', 'not_available'])

/**
 * Whether the totals include the round, or it is not billed: a model that declined before it wrote anything. `fallback`:
 * the last round of the model that replaced it.
 */
const isIncluded = ({ type, model, output_tokens: output }: JsonObject, fallback: JsonObject | undefined): boolean =>
  (type === 'message' || type === 'fallback_message') &&
  (fallback === undefined || model === fallback.model || !count(output))

const PROMPT = [
  ...(['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'cache_creation'] as const),
  ...(['prompt_tokens', 'prompt_tokens_details'] as const),
]

/** A stream's usage object with a later report merged in. A report without any prompt tokens keeps the earlier ones. */
export const withReport = (before: JsonObject | undefined, report: JsonObject): JsonObject => {
  const added = { ...report }
  if (promptOf(report) === 0 && before !== undefined && promptOf(before) > 0)
    for (const name of PROMPT) delete added[name]
  return mergeReport(before, added)
}

const promptOf = (raw: JsonObject): number => {
  const { input = 0, cacheRead = 0, cacheWrite = 0 } = classesOf(raw)
  return input + cacheRead + cacheWrite
}

const classesOf = (raw: JsonObject): Usage => {
  const own = ownOf(raw)
  const [told, output] = [count(raw.prompt_tokens), count(raw.completion_tokens)]
  if (told === undefined && output === undefined) return own
  // A few servers of this wire tell them under another wire's names, or in a part of a stream's reports.
  const cacheRead = count(asObject(raw.prompt_tokens_details).cached_tokens)
  const others = disjoint({ prompt: told, cacheRead, output: output ?? own.output, total: count(raw.total_tokens) })
  const { input = 0, cacheRead: read = 0, cacheWrite: written = 0 } = own
  const usage = input + read + written > 0 ? own : { ...own, ...others }
  return others.output === undefined ? usage : { ...usage, output: Math.max(others.output, own.output ?? 0) }
}

const ownOf = (raw: JsonObject): Usage => {
  const usage: Usage = {}
  const input = count(raw.input_tokens)
  if (input !== undefined) usage.input = input
  const cacheRead = count(raw.cache_read_input_tokens)
  if (cacheRead !== undefined) usage.cacheRead = cacheRead
  const flat = count(raw.cache_creation_input_tokens)
  const cacheWrite = flat || (sumByLifetime(raw.cache_creation) ?? flat)
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
  inference_geo: usage.inferenceGeo ?? null,
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

/** The calls of another vendor's search, where there are any. */
export const encodeSearches = (calls: number): JsonObject =>
  calls === 0 ? {} : { server_tool_use: { web_search_requests: calls, web_fetch_requests: 0 } }

/** The service tier in a usage object; `fast` has a member of its own. */
export const tierIn = ({ speed, service_tier: tier }: JsonObject): string | undefined => {
  if (speed === 'fast') return speed
  return typeof tier === 'string' ? tier : undefined
}

/** The usage of a usage object, in its service tier. */
export const decodeBilled = (raw: JsonObject): Usage | undefined => inTier(decodeUsage(raw), tierIn(raw))

/** The tier an answer was served from, in this wire's values; undefined where it has none for it. */
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
