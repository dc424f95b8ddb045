// Usage on this wire: `prompt_tokens` includes cached tokens, `completion_tokens` includes reasoning.

import { asObject, isObject, type JsonObject } from '../../ir/json.ts'
import { count, disjoint, inCharge, inKinds, inTier, mergeReport, type Usage } from '../../ir/usage.ts'

/** The disjoint classes of a `usage` object; undefined where it holds no count at all. */
export const decodeUsage = (raw: unknown): Usage | undefined => {
  if (!isObject(raw)) return undefined
  // A few servers of this wire tell them under the other wires' names.
  const prompt = count(raw.prompt_tokens) ?? count(raw.input_tokens)
  const output = count(raw.completion_tokens) ?? count(raw.output_tokens)
  if (prompt === undefined && output === undefined) return undefined
  const inPrompt = asObject(raw.prompt_tokens_details)
  const inOutput = asObject(raw.completion_tokens_details)
  const reasoning = count(inOutput.reasoning_tokens)
  const beside = reasoning === undefined ? count(raw.reasoning_tokens) : undefined
  // Beside the details, more reasoning than output is no part of it, although the total may leave it out.
  const apart = beside !== undefined && prompt !== undefined && output !== undefined && beside > output
  const usage = disjoint({
    prompt,
    // Compatible servers report cached tokens under other names, some outside the details.
    cacheRead:
      count(inPrompt.cached_tokens) ??
      count(raw.prompt_cache_hit_tokens) ??
      count(raw.cached_tokens) ??
      count(raw.num_cached_tokens) ??
      count(raw.cache_read_input_tokens),
    cacheWrite:
      count(inPrompt.cache_write_tokens) ??
      count(inPrompt.cache_creation_input_tokens) ??
      count(inPrompt.cache_creation_tokens) ??
      count(raw.cache_creation_input_tokens),
    output,
    reasoning: reasoning ?? beside,
    total: apart ? prompt + output + beside : count(raw.total_tokens),
  })
  // Relays of another vendor's models tell the lifetimes of its cache and the class of service where that vendor does.
  const hour = count(asObject(raw.cache_creation ?? inPrompt.cache_creation).ephemeral_1h_input_tokens)
  if (hour && usage.cacheWrite) usage.cacheWrite1h = Math.min(hour, usage.cacheWrite)
  return inTier(inCharge(inKinds(usage, inPrompt, inOutput), raw), raw.service_tier)
}

/** The figures of a chunk: beside the choices, or among what one of the servers tells of its own. */
export const usageIn = ({ usage, x_groq: own }: JsonObject): JsonObject | undefined =>
  isObject(usage) ? usage : isObject(own) && isObject(own.usage) ? own.usage : undefined

/**
 * A stream's usage object with a later report merged in. A report of no prompt tokens keeps the earlier ones, and where it
 * has no output either, all that was reported: some servers end with zeros.
 */
export const withReport = (before: JsonObject | undefined, report: JsonObject): JsonObject => {
  if (before === undefined || report.prompt_tokens !== 0 || !count(before.prompt_tokens))
    return mergeReport(before, report)
  if (!count(report.completion_tokens)) return before
  const { prompt_tokens: _, prompt_tokens_details: _details, total_tokens: _total, ...rest } = report
  return mergeReport(before, rest)
}

/** A `usage` object. The wire requires prompt, completion and total: a class that was not reported counts as 0 there. */
export const encodeUsage = (usage: Usage): JsonObject => {
  const prompt = (usage.input ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0)
  const completion = usage.output ?? 0
  const promptDetails: JsonObject = {}
  if (usage.cacheRead !== undefined) promptDetails.cached_tokens = usage.cacheRead
  if (usage.cacheWrite !== undefined) promptDetails.cache_write_tokens = usage.cacheWrite
  const heard = (usage.audioInput ?? 0) + (usage.audioCacheRead ?? 0)
  if (heard > 0) promptDetails.audio_tokens = heard
  const body: JsonObject = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
  if (Object.keys(promptDetails).length > 0) body.prompt_tokens_details = promptDetails
  const outputDetails: JsonObject = {}
  if (usage.reasoning !== undefined) outputDetails.reasoning_tokens = usage.reasoning
  if (usage.audioOutput !== undefined) outputDetails.audio_tokens = usage.audioOutput
  if (Object.keys(outputDetails).length > 0) body.completion_tokens_details = outputDetails
  return body
}
