// What an exchange consumed, in tokens, in classes that do not overlap, whichever wire reported it.

import { asObject, isObject, type JsonObject } from './json.ts'

/**
 * `input` excludes both cache classes: the prompt's size is the sum of the three. `reasoning` is a part of `output`,
 * `cacheWrite1h` (kept for an hour, which some vendors price apart) of `cacheWrite`: neither is ever added. A count the
 * provider did not give is absent, never 0; a later report overwrites an earlier one. `audioInput` to `imageOutput`: the
 * part of each class that is of sound or of pictures, which some vendors price apart. `serviceTier`: absent for the
 * vendor's default tier. `inferenceGeo`: the region that the inference was kept to; absent where it was kept to none. `charged`: micro-USD that the
 * provider says all of it cost, where it does. `apart`: what of the counts is billed by itself.
 */
export type Usage = {
  input?: number
  cacheRead?: number
  cacheWrite?: number
  cacheWrite1h?: number
  output?: number
  reasoning?: number
  audioInput?: number
  audioCacheRead?: number
  audioOutput?: number
  imageInput?: number
  imageCacheRead?: number
  imageOutput?: number
  serviceTier?: string
  inferenceGeo?: string
  charged?: number
  apart?: readonly Apart[]
}

/**
 * A round within an answer, which is billed by the length of its own prompt and at the price of the model that ran it. `model`: its
 * provider's name, and once it is known the catalogue's; absent for the model that was asked.
 */
export type Apart = { model?: string; usage: Pick<Usage, (typeof CLASSES)[number] | 'cacheWrite1h'> }

/** The disjoint classes. */
export const CLASSES = ['input', 'cacheRead', 'cacheWrite', 'output'] as const

/** How many tokens what vendors bill otherwise counts for: a second of sound that is heard, a character that is spoken. */
export type TokensPer = { second: number; character: number }

/** Where a model says nothing of it. */
export const TOKENS_PER: TokensPer = { second: 10, character: 1 }

/** What is billed: the sum of the disjoint classes. */
export const totalTokens = (usage: Usage): number =>
  (usage.input ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0) + (usage.output ?? 0)

/** Of a class, what is of sound or of pictures. */
export const KIND_PARTS = [
  ['audioInput', 'input'],
  ['audioCacheRead', 'cacheRead'],
  ['audioOutput', 'output'],
  ['imageInput', 'input'],
  ['imageCacheRead', 'cacheRead'],
  ['imageOutput', 'output'],
] as const

const PARTS = [
  ...(['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output', 'reasoning', 'charged'] as const),
  ...KIND_PARTS.map(([part]) => part),
]

/** The sum of two reports that are billed together; a figure missing from one of them is taken from the other. */
export const sum = (one: Usage | undefined, other: Usage | undefined): Usage | undefined => {
  if (one === undefined || other === undefined) return one ?? other
  const total: Usage = { ...one }
  for (const name of PARTS) {
    const more = other[name]
    if (more !== undefined) total[name] = (total[name] ?? 0) + more
  }
  return total
}

/** More than any answer's tokens, and small enough that sums of thousands of counts are exact. */
const MOST_TOKENS = 1e12

/** A number of tokens as a provider wrote it, a few in quotes; undefined for any value that is not one. */
export const count = (value: unknown): number | undefined => {
  if (typeof value === 'string') return /^\d{1,13}$/.test(value) ? count(Number(value)) : undefined
  return typeof value === 'number' && value >= 0 && value <= MOST_TOKENS ? Math.round(value) : undefined
}

const USUAL_TIERS = new Set(['', 'auto', 'default', 'standard'])

/** The usage with the service tier that the provider reported; unchanged for a default tier. */
export const inTier = <U extends Usage | undefined>(usage: U, tier: unknown): U =>
  usage === undefined || typeof tier !== 'string' || USUAL_TIERS.has(tier) ? usage : { ...usage, serviceTier: tier }

/** USD that no answer costs. */
const MOST_USD = 10_000
const TICKS_PER_USD = 1e10

/**
 * The usage with what its provider says that it charged: a number, a table of parts with their total, or ticks. What aggregators
 * called with a credential of their customer's is billed to that one beside it.
 */
export const inCharge = (usage: Usage, raw: JsonObject): Usage => {
  const { cost, cost_in_usd_ticks: ticks, is_byok: beside, cost_details: details } = raw
  const usd =
    typeof ticks === 'number' ? dollars(ticks / TICKS_PER_USD) : dollars(isObject(cost) ? cost.total_cost : cost)
  if (usd === undefined) return usage
  const whole = usd + (beside === true ? (dollars(asObject(details).upstream_inference_cost) ?? 0) : 0)
  // A half is one, whatever its binary fraction lacks.
  return { ...usage, charged: Math.round(Math.round(whole * 1e9) / 1e3) }
}

const dollars = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= MOST_USD ? value : undefined

/** Counts of which some are part of others: the cached tokens of the prompt, the reasoning of the output. */
export type Nested = {
  [Name in 'prompt' | 'cacheRead' | 'cacheWrite' | 'output' | 'reasoning' | 'total']?: number | undefined
}

/** Parts that providers are known to count beside the prompt or the output, each where none before it explains the total. */
const BESIDE: readonly (readonly ('cacheRead' | 'cacheWrite' | 'reasoning')[])[] = [
  ['reasoning'],
  ['cacheRead', 'cacheWrite'],
  ['cacheWrite'],
  ['cacheRead'],
  ['reasoning', 'cacheRead', 'cacheWrite'],
]

/**
 * The disjoint classes of such counts. A part is subtracted from its whole, and never exceeds it, unless the provider's
 * own total shows that the part was counted in addition to the whole. A total that exceeds prompt and output by what no part
 * explains is taken for reasoning that was not told: providers report the prompt exactly. Of prompt and output, the one that
 * was not told is what the total leaves for it.
 */
export const disjoint = (told: Nested): Usage => {
  const { cacheRead, cacheWrite, reasoning, total = 0 } = told
  const prompt = told.prompt ?? leftOf(total, told.output)
  const output = told.output ?? leftOf(total, told.prompt)
  const beside = Math.max(0, total - (prompt ?? 0) - (output ?? 0))
  const explained = (parts: (typeof BESIDE)[number]): number => parts.reduce((sum, part) => sum + (told[part] ?? 0), 0)
  const apart = beside === 0 ? [] : (BESIDE.find((parts) => explained(parts) === beside) ?? [])
  const untold = apart.length > 0 || prompt === undefined || reasoning ? 0 : beside
  const usage: Usage = {}
  let rest = prompt ?? (cacheRead ?? 0) + (cacheWrite ?? 0)
  const part = (name: 'cacheRead' | 'cacheWrite', wanted: number): number => {
    if (apart.includes(name)) return wanted
    const taken = Math.min(wanted, rest)
    rest -= taken
    return taken
  }
  if (cacheRead !== undefined) usage.cacheRead = part('cacheRead', cacheRead)
  if (cacheWrite !== undefined) usage.cacheWrite = part('cacheWrite', cacheWrite)
  if (prompt !== undefined) usage.input = rest
  if (output !== undefined) usage.output = output + untold + (apart.includes('reasoning') ? (reasoning ?? 0) : 0)
  if (reasoning !== undefined) usage.reasoning = Math.min(reasoning, usage.output ?? reasoning)
  return usage
}

const leftOf = (total: number, other: number | undefined): number | undefined =>
  other !== undefined && total > other ? total - other : undefined

/**
 * The usage with what the details of its prompt and its output say of sound and pictures. Those of the prompt count what comes
 * from a cache too, and may say how much of them that is.
 */
export const inKinds = (usage: Usage, inPrompt: JsonObject, inOutput: JsonObject): Usage => {
  const cached = asObject(inPrompt.cached_tokens_details)
  const told: Usage = {}
  for (const kind of ['audio', 'image'] as const) {
    const cacheRead = part(cached[`${kind}_tokens`], usage.cacheRead)
    const input = part(count(inPrompt[`${kind}_tokens`]) ?? 0, (usage.input ?? 0) + cacheRead) - cacheRead
    const output = part(inOutput[`${kind}_tokens`], usage.output)
    if (input > 0) told[`${kind}Input`] = input
    if (cacheRead > 0) told[`${kind}CacheRead`] = cacheRead
    if (output > 0) told[`${kind}Output`] = output
  }
  return Object.keys(told).length === 0 ? usage : { ...usage, ...told }
}

const part = (told: unknown, whole = 0): number => Math.min(count(told) ?? 0, whole)

/** The usage a client is shown: with the estimate where the provider reported nothing of the prompt. */
export const withPrompt = (usage: Usage, estimate: number): Usage =>
  usage.input === undefined && !usage.cacheRead && !usage.cacheWrite ? { ...usage, input: estimate } : usage

/** More members than any vendor's usage object has, by far. */
const MOST_MEMBERS = 200

/**
 * Merges a later report into a stream's usage object: each member that is not null overwrites. An object with more
 * members than any real one is replaced.
 */
export const mergeReport = (before: JsonObject | undefined, report: JsonObject): JsonObject => {
  if (before === undefined || Object.keys(before).length > MOST_MEMBERS) return report
  const reported = Object.entries(report).filter(([, value]) => value !== null && value !== undefined)
  return { ...before, ...Object.fromEntries(reported) }
}
