// How the model should think: `thinking` and `output_config.effort`, in both directions.

import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { Quirks } from '../../ir/quirks.ts'
import type { ChatRequest, Effort, Reasoning } from '../../ir/request.ts'
import type { Target } from '../codec.ts'
import { readNumber } from '../read.ts'
import { effortFor, leastThought, nearestEffort } from '../settings/effort.ts'
import type { Dropped } from './dropped.ts'
import type { Collected } from './extras.ts'

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const satisfies Effort[]
/** The smallest thinking budget that the provider takes, in tokens. */
export const MIN_BUDGET = 1024
/** The thinking budget for each effort, in tokens, for models that take budgets only. */
export const BUDGETS: Record<Exclude<Effort, 'none'>, number> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
  max: 49_152,
}

export const isEffort = (value: unknown): value is (typeof EFFORTS)[number] =>
  EFFORTS.some((effort) => effort === value)

/** The members of `thinking` that the IR holds, by its type. Without a type it does not turn thinking on or off. */
const MEMBERS = new Map<Json | undefined, ReadonlySet<string>>([
  [undefined, new Set()],
  ['disabled', new Set(['type'])],
  ['enabled', new Set(['type', 'budget_tokens', 'display'])],
  ['adaptive', new Set(['type', 'display'])],
])

/** Members of `thinking` that the IR cannot hold, or all of it, go to the extras. */
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

/**
 * Whether the provider would refuse to think by budget: what the model has said in the round of calls that the request
 * answers, and the beginning of an answer, must then begin with a thought.
 */
export const lacksThought = (
  messages: readonly { role: Json | undefined; content: readonly JsonObject[] }[],
): boolean => {
  let isInRound = messages.at(-1)?.role === 'assistant'
  for (let at = messages.length - 1; at >= 0; at--) {
    const { role, content = [] } = messages[at] ?? {}
    if (role === 'user') isInRound ||= content.some(({ type }) => type === 'tool_result')
    // Messages of the model that follow one another are one to the provider.
    if (role !== 'assistant' || messages[at - 1]?.role === 'assistant') continue
    if (!isInRound) return false
    if (content[0] === undefined || !isThought(content[0])) return true
    isInRound = false
  }
  return false
}

export const isThought = ({ type }: JsonObject): boolean => type === 'thinking' || type === 'redacted_thinking'

/** The thought of a turn without one, for servers that want one with calls. */
export const NO_THOUGHT: JsonObject = { type: 'thinking', thinking: ' ', signature: '' }

/** Whether a message of the model's has calls and no thought. */
export const callsUnthought = ({ role, content }: { role: unknown; content: readonly JsonObject[] }): boolean =>
  role === 'assistant' && content.some(({ type }) => type === 'tool_use') && !content.some(isThought)

type Thinking = { thinking?: JsonObject; effort?: string }

/** Of a model that thinks by a budget only and cannot be told not to: some want one with every request. */
const LEAST: Reasoning = { effort: 'low' }

/** `cannotThink`: whether the provider refuses to think in this request, by budget or adaptively. */
export const encodeReasoning = (
  request: ChatRequest,
  { quirks, anew }: Target,
  limits: { maxTokens: number; cannotThink: (budget: boolean) => boolean },
  dropped: Dropped,
): Thinking => {
  const asked = request.reasoning ?? (quirks.alwaysThinks && quirks.noAdaptiveThinking ? LEAST : undefined)
  if (asked === undefined) return {}
  const drop = (setting: 'reasoning' | 'effort'): void =>
    dropped.member(setting === 'effort' ? 'output_config.effort' : 'thinking')
  const reasoning = withoutBudget(leastThought(asked, quirks, drop), quirks, dropped)
  if (quirks.noReasoning === true) {
    if (reasoning.mode !== 'off' && reasoning.effort !== 'none') dropped.member('thinking')
    return {}
  }
  const effort = encodeEffort(reasoning.effort, quirks, reasoning.mode !== undefined, dropped)
  if (reasoning.mode === 'off' || reasoning.effort === 'none') return { thinking: { type: 'disabled' }, ...effort }
  const thinking = encodeMode(
    request,
    reasoning,
    { budgetsOnly: quirks.noAdaptiveThinking === true, maxTokens: limits.maxTokens },
    dropped,
  )
  if (thinking === undefined) return effort
  if ((request.origin !== 'messages' || anew) && limits.cannotThink(thinking.type === 'enabled')) {
    dropped.member('thinking')
    return effort
  }
  return { thinking, ...effort }
}

const withoutBudget = (reasoning: Reasoning, { noThinkingBudget }: Quirks, dropped: Dropped): Reasoning => {
  if (!noThinkingBudget || reasoning.mode !== 'budget') return reasoning
  dropped.path('thinking.budget_tokens')
  const { budgetTokens = BUDGETS.medium, ...rest } = reasoning
  return { effort: effortFor(budgetTokens), ...rest, mode: 'adaptive' }
}

const encodeEffort = (
  effort: Effort | undefined,
  { noAdaptiveThinking, noXhighEffort, efforts }: Quirks,
  hasMode: boolean,
  dropped: Dropped,
): Thinking => {
  if (effort === undefined || effort === 'none') return {}
  if (!noAdaptiveThinking) {
    const own = effort === 'minimal' ? 'low' : effort
    const asked = nearestEffort(own === 'xhigh' && noXhighEffort ? 'high' : own, efforts)
    if (asked !== undefined) return { effort: asked }
  }
  if (hasMode || efforts !== undefined) dropped.member('output_config.effort')
  return {}
}

const encodeMode = (
  request: ChatRequest,
  { mode, effort, summary, budgetTokens }: Reasoning,
  { budgetsOnly, maxTokens }: { budgetsOnly: boolean; maxTokens: number },
  dropped: Dropped,
): JsonObject | undefined => {
  const display = summary === undefined ? {} : { display: summary === 'omitted' ? 'omitted' : 'summarized' }
  const budget = (tokens: number): JsonObject | undefined => {
    const fitting = Math.min(Math.max(Math.trunc(tokens), MIN_BUDGET), maxTokens - 1)
    if (fitting >= MIN_BUDGET) return { type: 'enabled', budget_tokens: fitting, ...display }
    dropped.member('thinking')
    return undefined
  }
  if (mode === 'budget') return budget(budgetTokens ?? BUDGETS.medium)
  // On this wire an effort alone does not turn thinking on; on the others it does.
  if (mode === undefined && request.origin === 'messages' && !(budgetsOnly && effort !== undefined)) return undefined
  if (!budgetsOnly)
    return { type: 'adaptive', ...(showsUnasked(request, summary) ? { display: 'summarized' } : display) }
  if (mode === undefined && effort === undefined) {
    dropped.member('thinking')
    return undefined
  }
  return budget(budgetFor(effort, maxTokens))
}

/** The thinking budget in place of an effort: at most half of the cap, to leave room for the answer. */
export const budgetFor = (effort: Effort | undefined, cap: number): number =>
  Math.min(BUDGETS[effort === undefined || effort === 'none' ? 'medium' : effort], Math.floor(cap / 2))

/** Newer models show nothing of their thought unasked, and clients of the chat-completions wire, who read it, cannot ask. */
const showsUnasked = ({ origin, reasoning }: ChatRequest, summary: Reasoning['summary']): boolean =>
  origin === 'chat-completions' && summary === undefined && reasoning?.effort !== 'none'
