// Reasoning effort: the values of vendor_b's wires, and what a request's settings become in them.

import type { Quirks } from '../ir/quirks.ts'
import type { Effort, Reasoning } from '../ir/request.ts'
import type { ChatWire } from '../ir/wire.ts'

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const satisfies Effort[]

/**
 * The effort to ask for; undefined where the client leaves it to the model. A budget has no counterpart and becomes the
 * effort that uses about as many tokens. `drop` is called with the client's member that is left out.
 */
export const effortOf = (
  { mode, effort, budgetTokens }: Reasoning,
  origin: ChatWire,
  drop: (member: string) => void,
): Effort | undefined => {
  if (mode === 'off') {
    if (effort !== undefined) drop('output_config.effort')
    return 'none'
  }
  // Most of this vendor's models refuse `max`, the highest effort of the messages wire.
  if (effort === 'max' && origin === 'messages') return 'xhigh'
  if (effort !== undefined || mode !== 'budget' || budgetTokens === undefined) return effort
  return effortFor(budgetTokens)
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
