// How a body that passes asks its model to think: with a budget below the output cap, and in the way that the model takes.

import { asList, asObject, isObject, type JsonObject } from '../../ir/json.ts'
import type { Quirks } from '../../ir/quirks.ts'
import type { Effort } from '../../ir/request.ts'
import type { Edit } from '../../lib/json-splice.ts'
import type { PassEdit, PassOptions } from '../codec.ts'
import { effortFor, nearestEffort } from '../settings/effort.ts'
import { BUDGETS, budgetFor, isEffort, lacksThought, MIN_BUDGET } from './reasoning.ts'

/** What the provider gets of the conversation. `isShorter`: thoughts of other providers are left out of it. */
export type Remaining = { isShorter: boolean; messages: () => Parameters<typeof lacksThought>[0] }

/**
 * A thinking budget must stay below the output cap. Thinking is turned off where a lowered cap leaves no room for it, and
 * where the provider would refuse to think about what remains of the messages.
 */
export const thinkingEdits = (body: JsonObject, remaining: Remaining, options: PassOptions): PassEdit[] => {
  const { outputCap: cap = Number.POSITIVE_INFINITY, learned = {} } = options
  const { thinking, max_tokens: asked } = body
  if (learned.alwaysThinks && (!isObject(thinking) || thinking.type === 'disabled'))
    return thinkingLeast(body, learned, outputCap(asked, cap))
  if (learned.noReasoning) return unthought(body)
  if (!isObject(thinking)) return []
  if (learned.noThinkingBudget && thinking.type === 'enabled') return adaptive(body, thinking.budget_tokens)
  if (learned.noAdaptiveThinking && thinking.type === 'adaptive')
    return byBudget(body, remaining, learned, outputCap(asked, cap))
  if (learned.idleEfforts !== undefined && thinking.type === 'disabled') return idly(body, learned.idleEfforts)
  if (typeof thinking.budget_tokens !== 'number') return []
  if (remaining.isShorter && lacksThought(remaining.messages())) return withoutThinking(body)
  if (thinking.budget_tokens < cap) return []
  return cap > MIN_BUDGET ? [{ path: ['thinking', 'budget_tokens'], value: String(cap - 1) }] : withoutThinking(body)
}

/** The model takes no word about thinking. */
const unthought = (body: JsonObject): PassEdit[] => [
  ...withoutThinking(body).slice(1),
  ...(body.thinking === undefined ? [] : [{ path: ['thinking'], value: undefined, lost: true as const }]),
  ...withoutEffort(body),
]

/** The budget becomes an effort, unless the client has asked for one besides. */
const adaptive = ({ output_config: config }: JsonObject, budget: unknown): PassEdit[] => {
  const effort = JSON.stringify(effortFor(typeof budget === 'number' ? budget : BUDGETS.medium))
  const edits: PassEdit[] = [
    { path: ['thinking', 'type'], value: '"adaptive"' },
    { path: ['thinking', 'budget_tokens'], value: undefined, lost: true },
  ]
  if (!isObject(config)) return [...edits, { path: ['output_config'], value: `{"effort":${effort}}` }]
  return isEffort(config.effort) ? edits : [...edits, { path: ['output_config', 'effort'], value: effort }]
}

/** The effort becomes a budget. Models that think by budget only know no effort. */
const byBudget = (body: JsonObject, remaining: Remaining, learned: Quirks, cap: number): PassEdit[] => {
  const { effort } = configOf(body)
  const budget = budgetFor(isEffort(effort) ? effort : undefined, cap)
  const lost = withoutEffort(body)
  if (budget < MIN_BUDGET || lacksThought(remaining.messages()))
    return [...(learned.alwaysThinks ? thinkingLeast(body, learned, cap) : withoutThinking(body)), ...lost]
  return [
    { path: ['thinking', 'type'], value: '"enabled"' },
    { path: ['thinking', 'budget_tokens'], value: String(budget) },
    ...lost,
  ]
}

const outputCap = (asked: unknown, cap: number): number => Math.min(cap, typeof asked === 'number' ? asked : cap)

/** As little thinking as the model takes that cannot be told not to think. It does so unasked, unless it wants a budget. */
const thinkingLeast = (body: JsonObject, { noAdaptiveThinking }: Quirks, cap: number): PassEdit[] => {
  const lost = isObject(body.thinking) ? { lost: true as const } : {}
  if (!noAdaptiveThinking) return isObject(body.thinking) ? [{ path: ['thinking'], value: undefined, ...lost }] : []
  const budget = cap > MIN_BUDGET ? { budget_tokens: MIN_BUDGET } : {}
  return [{ path: ['thinking'], value: JSON.stringify({ type: 'enabled', ...budget }), ...lost }]
}

/** The effort becomes one that the model takes while it does not think. */
const idly = (body: JsonObject, taken: readonly Effort[]): PassEdit[] => {
  const { effort } = configOf(body)
  if (!isEffort(effort) || taken.includes(effort)) return []
  const nearest = nearestEffort(effort, taken)
  if (nearest === undefined) return withoutEffort(body)
  return [{ path: ['output_config', 'effort'], value: JSON.stringify(nearest), lost: true }]
}

const configOf = ({ output_config: config }: JsonObject): JsonObject => asObject(config)

const withoutEffort = (body: JsonObject): PassEdit[] => {
  const { effort, ...others } = configOf(body)
  if (effort === undefined) return []
  const path = Object.keys(others).length === 0 ? ['output_config'] : ['output_config', 'effort']
  return [{ path, value: undefined, lost: true }]
}

/** Without thinking, the provider refuses the edits of the context that clear thoughts: they are removed as well. */
const withoutThinking = ({ context_management: management }: JsonObject): PassEdit[] => {
  const list = asList(asObject(management).edits)
  const clearing = list.flatMap((edit, at) => (isObject(edit) && CLEARS_THOUGHTS.test(String(edit.type)) ? [at] : []))
  const removed: Edit['path'][] =
    clearing.length > 0 && clearing.length === list.length
      ? [['context_management']]
      : clearing.map((at) => ['context_management', 'edits', at])
  return [
    { path: ['thinking'], value: '{"type":"disabled"}', lost: true },
    ...removed.map((path) => ({ path, value: undefined, lost: true as const })),
  ]
}

const CLEARS_THOUGHTS = /^clear_thinking_/
