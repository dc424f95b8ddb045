// What an exchange consumed, in tokens, in classes that do not overlap, whatever the wire that reported it.

import type { JsonObject } from './json.ts'

/**
 * `input` excludes both cache classes: the prompt's size is the sum of the three. `reasoning` is a part of `output`,
 * `cacheWrite1h` (to be kept for an hour, which some price apart) of `cacheWrite`: neither is ever added. A count the
 * provider did not give is absent, never 0; a later report overwrites an earlier one. `serviceTier`: the class of
 * service it was given in, where that is not the vendor's usual one.
 */
export type Usage = {
  input?: number
  cacheRead?: number
  cacheWrite?: number
  cacheWrite1h?: number
  output?: number
  reasoning?: number
  serviceTier?: string
}

/** What is billed: the sum of the disjoint classes. */
export const totalTokens = (usage: Usage): number =>
  (usage.input ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0) + (usage.output ?? 0)

const PARTS = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output', 'reasoning'] as const

/** Figures told apart that are billed together; a class that one of them leaves out counts for the others. */
export const sum = (one: Usage | undefined, other: Usage | undefined): Usage | undefined => {
  if (one === undefined || other === undefined) return one ?? other
  const total: Usage = { ...one }
  for (const name of PARTS) {
    const more = other[name]
    if (more !== undefined) total[name] = (total[name] ?? 0) + more
  }
  return total
}

/** Beyond any answer's tokens, and small enough that the sums of thousands of them are exact. */
const MOST_TOKENS = 1e12

/** A number of tokens as a provider wrote it; undefined for whatever can be none. */
export const count = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= MOST_TOKENS ? Math.round(value) : undefined

const USUAL_TIERS = new Set(['', 'auto', 'default', 'standard'])

/** Figures in the class of service that the provider told; a usual one is not told. */
export const inTier = <U extends Usage | undefined>(usage: U, tier: unknown): U =>
  usage === undefined || typeof tier !== 'string' || USUAL_TIERS.has(tier) ? usage : { ...usage, serviceTier: tier }

/** Figures of which some are part of others: the caches of the prompt, the reasoning of the output. */
export type Nested = {
  [Name in 'prompt' | Exclude<keyof Usage, 'input' | 'cacheWrite1h' | 'serviceTier'> | 'total']: number | undefined
}

/**
 * The disjoint classes of such figures. A part counts as one of its whole, and as no more than it, but where the
 * provider's own total tells that it counted the part beside the whole. What that total alone holds, where no part is
 * told, was thought: a prompt is known to its last token.
 */
export const disjoint = ({ prompt, cacheRead, cacheWrite, output, reasoning, total }: Nested): Usage => {
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0)
  const beside = total === undefined ? 0 : total - (prompt ?? 0) - (output ?? 0)
  const thoughtsApart = beside > 0 && beside === reasoning
  const cacheApart = beside > 0 && !thoughtsApart && beside === cached
  const thoughtsUntold = beside > 0 && prompt !== undefined && !reasoning && cached === 0
  const usage: Usage = {}
  let rest = cacheApart ? Number.POSITIVE_INFINITY : (prompt ?? cached)
  const part = (wanted: number): number => {
    const taken = Math.min(wanted, rest)
    rest -= taken
    return taken
  }
  if (cacheRead !== undefined) usage.cacheRead = part(cacheRead)
  if (cacheWrite !== undefined) usage.cacheWrite = part(cacheWrite)
  if (prompt !== undefined) usage.input = cacheApart ? prompt : rest
  if (output !== undefined) usage.output = thoughtsApart || thoughtsUntold ? output + beside : output
  if (reasoning !== undefined) usage.reasoning = Math.min(reasoning, usage.output ?? reasoning)
  return usage
}

/** The figures a client is shown: where nothing is told of the prompt, the estimate stands in. */
export const withPrompt = (usage: Usage, estimate: number): Usage =>
  usage.input === undefined && !usage.cacheRead && !usage.cacheWrite ? { ...usage, input: estimate } : usage

/** More members than any vendor's usage object has, by far. */
const MOST_MEMBERS = 200

/**
 * A stream's usage object with a later report of it: each member that tells something overwrites. One that grows past all
 * reason begins anew.
 */
export const updated = (before: JsonObject | undefined, report: JsonObject): JsonObject => {
  if (before === undefined || Object.keys(before).length > MOST_MEMBERS) return report
  const told = Object.entries(report).filter(([, value]) => value !== null && value !== undefined)
  return { ...before, ...Object.fromEntries(told) }
}
