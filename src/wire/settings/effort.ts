// Reasoning effort: the values of vendor_b's wires, and what a request's settings become in them.

import type { Quirks } from '../../ir/quirks.ts'
import type { Effort, Reasoning } from '../../ir/request.ts'
import type { ChatWire } from '../../ir/wire.ts'

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const satisfies Effort[]

/** Undefined for what is none. */
export const knownEffort = (value: unknown): Effort | undefined => EFFORTS.find((effort) => effort === value)

/** The summaries of a thought that vendor_b's clients may ask for. */
export const SUMMARIES = ['auto', 'concise', 'detailed'] as const satisfies Reasoning['summary'][]

/**
 * The effort to ask for; undefined where the client leaves it to the model. A budget has no counterpart and becomes the
 * effort that uses about as many tokens. `drop` is called for what the client asked and does not get.
 */
export const effortOf = (
  reasoning: Reasoning,
  { efforts, thinksUnasked }: Quirks,
  origin: ChatWire,
  drop: (setting: 'reasoning' | 'effort') => void,
): Effort | undefined => {
  const wanted = wantedEffort(reasoning, origin, drop) ?? unaskedEffort(reasoning, thinksUnasked)
  const asked = wanted && nearestEffort(wanted, efforts)
  const isThoughtless = asked === undefined || asked === 'none'
  if (wanted !== undefined && (wanted === 'none') !== isThoughtless) drop('reasoning')
  return asked
}

/** Thinking that is left to a model which does not think by itself: an effort that leaves it a choice. */
const unaskedEffort = ({ mode }: Reasoning, thinksUnasked: boolean | undefined): Effort | undefined =>
  mode === 'adaptive' && thinksUnasked === false ? 'medium' : undefined

const wantedEffort = (
  { mode, effort, budgetTokens }: Reasoning,
  origin: ChatWire,
  drop: (setting: 'effort') => void,
): Effort | undefined => {
  if (mode === 'off') {
    if (effort !== undefined) drop('effort')
    return 'none'
  }
  // Most of this vendor's models refuse `max`, the highest effort of the messages wire.
  if (effort === 'max' && origin === 'messages') return 'xhigh'
  if (effort !== undefined || mode !== 'budget' || budgetTokens === undefined) return effort
  return effortFor(budgetTokens)
}

/** Of those that the model takes, the highest that thinks no more than the one asked for, or the lowest that thinks. */
export const nearestEffort = (wanted: Effort, taken: readonly Effort[] | undefined): Effort | undefined => {
  if (taken === undefined || taken.includes(wanted)) return wanted
  const thinking = EFFORTS.filter((effort) => effort !== 'none' && taken.includes(effort))
  return thinking.findLast((effort) => EFFORTS.indexOf(effort) < EFFORTS.indexOf(wanted)) ?? thinking[0]
}

/** The effort that thinks about as much as a budget of so many tokens. */
export const effortFor = (budgetTokens: number): 'low' | 'medium' | 'high' => {
  if (budgetTokens <= 4_096) return 'low'
  return budgetTokens <= 16_384 ? 'medium' : 'high'
}

/**
 * The settings for a model whose thinking cannot be turned off: the lowest effort in place of none. `drop` is called for
 * what the client asked and does not get: no thinking, and an effort beside it, which the messages wire allows.
 */
export const leastThought = (
  wish: Reasoning,
  { alwaysThinks }: Quirks,
  drop: (setting: 'reasoning' | 'effort') => void,
): Reasoning => {
  const { mode, effort, summary } = wish
  const wantsNone = mode === 'off' || effort === 'none'
  if (!alwaysThinks || !(wantsNone || effort === 'minimal')) return wish
  if (wantsNone) drop('reasoning')
  if (mode === 'off' && effort !== undefined && effort !== 'none') drop('effort')
  return { effort: 'low', ...(summary === undefined ? {} : { summary }) }
}
