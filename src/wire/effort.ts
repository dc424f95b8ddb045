// How much thought a request asks for, in the efforts of vendor_b's wires.

import type { Effort, Reasoning } from '../ir/request.ts'
import type { ChatWire } from '../ir/wire.ts'

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const satisfies Effort[]

/**
 * The effort to ask for; undefined where the client leaves it to the model. A budget has no counterpart: it becomes the
 * effort that spends about as much. `drop` is told of the client's member that is left out.
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
  // The highest effort of the messages wire is one this vendor's models mostly refuse.
  if (effort === 'max' && origin === 'messages') return 'xhigh'
  if (effort !== undefined || mode !== 'budget' || budgetTokens === undefined) return effort
  if (budgetTokens <= 4_096) return 'low'
  return budgetTokens <= 16_384 ? 'medium' : 'high'
}
