// How the model should think: `thinking` and `output_config.effort` in both directions.

import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { ChatRequest, Effort, Reasoning } from '../../ir/request.ts'
import type { Target } from '../codec.ts'
import { readNumber } from '../read.ts'
import type { Dropped } from './dropped.ts'
import type { Collected } from './extras.ts'

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const satisfies Effort[]
/** The least budget of thought the provider takes, in tokens. */
export const MIN_BUDGET = 1024
/** What an effort is worth in tokens of thought, where the model takes budgets only. */
const BUDGETS: Record<Exclude<Effort, 'none'>, number> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
  max: 49_152,
}

export const isEffort = (value: unknown): value is (typeof EFFORTS)[number] =>
  EFFORTS.some((effort) => effort === value)

/** By type. Without one whether to think is left to the model, and only what goes with it is set. */
const MEMBERS = new Map<Json | undefined, ReadonlySet<string>>([
  [undefined, new Set()],
  ['disabled', new Set(['type'])],
  ['enabled', new Set(['type', 'budget_tokens', 'display'])],
  ['adaptive', new Set(['type', 'display'])],
])

/** What the IR has no word for, of `thinking` or all of it, goes to the extras. */
export const decodeThinking = (raw: Json | undefined, extras: Collected): Reasoning => {
  if (raw === undefined || raw === null) return {}
  const known = isObject(raw) ? MEMBERS.get(raw.type ?? undefined) : undefined
  if (!isObject(raw) || known === undefined) {
    extras.add('thinking', raw)
    return {}
  }
  extras.rest(raw, known, 'thinking')
  if (raw.type === undefined || raw.type === null) return {}
  if (raw.type === 'disabled') return { mode: 'off' }
  const summary = decodeDisplay(raw.display)
  if (summary.summary === undefined && raw.display !== undefined && raw.display !== null)
    extras.add('thinking.display', raw.display)
  return raw.type === 'enabled'
    ? { mode: 'budget', budgetTokens: readNumber(raw.budget_tokens, 'thinking.budget_tokens'), ...summary }
    : { mode: 'adaptive', ...summary }
}

const decodeDisplay = (display: unknown): Pick<Reasoning, 'summary'> => {
  if (display === 'omitted') return { summary: 'omitted' }
  return display === 'summarized' ? { summary: 'auto' } : {}
}

type Thinking = { thinking?: JsonObject; effort?: string }

/** `cannotThink`: the provider refuses thinking in this request, whatever the client asked. */
export const encodeReasoning = (
  request: ChatRequest,
  { quirks }: Target,
  limits: { maxTokens: number; cannotThink: (budget: boolean) => boolean },
  dropped: Dropped,
): Thinking => {
  const wish = request.reasoning
  if (wish === undefined) return {}
  if (quirks.noReasoning === true) {
    if (wish.mode !== 'off' && wish.effort !== 'none') dropped.member('reasoning')
    return {}
  }
  const effort = encodeEffort(wish.effort, quirks.noAdaptiveThinking === true, wish.mode !== undefined, dropped)
  if (wish.mode === 'off' || wish.effort === 'none') return { thinking: { type: 'disabled' }, ...effort }
  const thinking = encodeMode(request, wish, quirks.noAdaptiveThinking === true, limits.maxTokens, dropped)
  if (thinking === undefined) return effort
  if (request.origin !== 'messages' && limits.cannotThink(thinking.type === 'enabled')) {
    dropped.member('reasoning')
    return effort
  }
  return { thinking, ...effort }
}

const encodeEffort = (
  effort: Effort | undefined,
  budgetsOnly: boolean,
  hasMode: boolean,
  dropped: Dropped,
): Thinking => {
  if (effort === undefined || effort === 'none') return {}
  if (!budgetsOnly) return { effort: effort === 'minimal' ? 'low' : effort }
  if (hasMode) dropped.member('effort')
  return {}
}

const encodeMode = (
  request: ChatRequest,
  wish: Reasoning,
  budgetsOnly: boolean,
  maxTokens: number,
  dropped: Dropped,
): JsonObject | undefined => {
  const display = wish.summary === undefined ? {} : { display: wish.summary === 'omitted' ? 'omitted' : 'summarized' }
  const budget = (tokens: number): JsonObject | undefined => {
    const fitting = Math.min(Math.max(Math.trunc(tokens), MIN_BUDGET), maxTokens - 1)
    if (fitting >= MIN_BUDGET) return { type: 'enabled', budget_tokens: fitting, ...display }
    dropped.member('reasoning')
    return undefined
  }
  if (wish.mode === 'budget') return budget(wish.budgetTokens ?? BUDGETS.medium)
  // On this wire an effort alone asks for no thought; elsewhere it is how thought is asked for.
  if (wish.mode === undefined && request.origin === 'messages' && !(budgetsOnly && wish.effort !== undefined))
    return undefined
  if (!budgetsOnly) return { type: 'adaptive', ...display }
  if (wish.mode === undefined && wish.effort === undefined) {
    dropped.member('reasoning')
    return undefined
  }
  // Half of the cap at most, or nothing is left for the answer.
  return budget(
    Math.min(BUDGETS[wish.effort === undefined || wish.effort === 'none' ? 'medium' : wish.effort], maxTokens / 2),
  )
}
