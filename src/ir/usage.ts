// What an exchange consumed, in tokens, in classes that do not overlap, whatever the wire that reported it.

/**
 * `input` excludes both cache classes: the prompt's size is the sum of the three. `reasoning` is a part of `output`,
 * never added to it. A count the provider did not give is absent, never 0; a later report overwrites an earlier one.
 */
export type Usage = {
  input?: number
  cacheRead?: number
  cacheWrite?: number
  output?: number
  reasoning?: number
}

/** What is billed: the sum of the disjoint classes. */
export const totalTokens = (usage: Usage): number =>
  (usage.input ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0) + (usage.output ?? 0)
