// The figures of exchanges that are added up. Classes of tokens are disjoint; reasoning is part of output.

/** `errors`: exchanges refused or failed. `feesMicroUsd`: the part of the cost that is of calls, pictures and the like. */
export type Figures = {
  requests: number
  errors: number
  input: number
  cacheRead: number
  cacheWrite: number
  output: number
  reasoning: number
  costMicroUsd: number
  feesMicroUsd: number
}

export const NO_FIGURES: Figures = {
  requests: 0,
  errors: 0,
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  reasoning: 0,
  costMicroUsd: 0,
  feesMicroUsd: 0,
}

export const FIGURES = Object.keys(NO_FIGURES) as (keyof Figures)[]

/** Their columns in every table of sums, in the same order. */
export const SUMS = [
  ...['requests', 'errors', 'input', 'cache_read', 'cache_write'],
  ...['output', 'reasoning', 'cost_micro_usd', 'fees_micro_usd'],
]
/** Reads the figures from one. */
export const SUMMED = FIGURES.map((name, i) => `CAST(sum(${SUMS[i]}) AS bigint) AS "${name}"`).join(', ')

/** The same of each row, to be added up here. */
export const READ = FIGURES.map((name, i) => `${SUMS[i]} AS "${name}"`).join(', ')

/** Written out: there may be hundreds of thousands of rows. */
export const addTo = (sum: Figures, more: Figures): void => {
  sum.requests += more.requests
  sum.errors += more.errors
  sum.input += more.input
  sum.cacheRead += more.cacheRead
  sum.cacheWrite += more.cacheWrite
  sum.output += more.output
  sum.reasoning += more.reasoning
  sum.costMicroUsd += more.costMicroUsd
  sum.feesMicroUsd += more.feesMicroUsd
}

export const addFigures = (a: Figures, b: Figures): Figures => {
  const sum = { ...a }
  addTo(sum, b)
  return sum
}
