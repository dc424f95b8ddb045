// Keys, models and sums in the admin API's words: what the server and the command line say of them alike.

import type * as S from '../admin-api/schema.ts'
import type { KindRates, Model, Rates } from '../catalogue/model.ts'
import { zoneIn } from '../config/settings.ts'
import { type Budget, type BudgetId, budgetOf, leftOfBudget, usedOf } from '../keys/budget.ts'
import type { Budgets } from '../keys/budgets.ts'
import type { Key } from '../keys/key.ts'
import { nextRenewal } from '../keys/renewal.ts'
import { statusOf } from '../keys/status.ts'
import type { Calendar } from '../lib/calendar.ts'
import { iso } from '../lib/iso-time.ts'
import { type Member, type StoredSession, sessionId } from '../members/member.ts'
import type { Figures } from '../store/figures.ts'

/** A key without what only a running server knows. */
export type ShownKey = Omit<S.Key, 'purpose' | 'owner' | 'revoked_at' | 'last_used_at' | 'tokens_held'>
/** Sums without what is made of them. */
export type ShownSums = Omit<S.Sums, 'cost_khr' | 'tokens'>
/** A model without its names and who serves it. */
export type ShownModel = Omit<S.Model, 'aliases' | 'fallbacks' | 'available' | 'targets'>

/** Of a command or a server: what time it is, by whose clocks, and the budgets. */
export type Terms = { now: number; calendar: Calendar; budgets: Pick<Budgets, 'get'> }

export const shownBudget = (budget: Budget, { now, calendar }: Omit<Terms, 'budgets'>): S.Budget => ({
  usd: budget.unit === 'usd' ? budget.amount / 1e6 : null,
  tokens: budget.unit === 'tokens' ? budget.amount : null,
  renews: budget.renews ?? 'never',
  warn_at: [...budget.warnAt],
  used: usedOf(budget),
  remaining: leftOfBudget(budget),
  used_tokens: budget.used.tokens,
  used_micro_usd: budget.used.microUsd,
  since: iso(budget.since),
  renews_at: budget.renews === undefined ? null : iso(nextRenewal(budget.renews, now, calendar)),
})

export const shownBudgetOf = (id: BudgetId, terms: Terms): S.Budget | null => {
  const budget = terms.budgets.get(id)
  return budget === undefined ? null : shownBudget(budget, terms)
}

export const shownKey = (key: Key, terms: Terms): ShownKey => {
  const { now, calendar } = terms
  return {
    id: key.id,
    label: key.label,
    last_four: key.lastFour ?? null,
    tokens_total: key.tokensTotal,
    tokens_used: key.tokensUsed,
    tokens_extra: key.tokensExtra ?? 0,
    tokens_remaining: Math.max(0, key.tokensTotal - key.tokensUsed),
    renews: key.renews ?? null,
    renews_at:
      key.renews === undefined || key.revokedAt !== undefined ? null : iso(nextRenewal(key.renews, now, calendar)),
    expires_at: iso(key.expiresAt),
    models: key.models,
    rpm: key.rpm ?? null,
    tpm: key.tpm ?? null,
    concurrency: key.concurrency ?? null,
    server_tools: key.serverTools ?? 'all',
    ips: key.ips === undefined ? null : [...key.ips],
    capture: key.capture ?? 'none',
    old_secret_until: oldSecretUntil(key, now),
    status: statusOf(key, now),
    created_at: iso(key.createdAt),
    budget: shownBudgetOf(budgetOf('key', key.id), terms),
  }
}

/** An old secret ends with its key. */
const oldSecretUntil = ({ revokedAt, oldSecretUntil: until = 0, expiresAt }: Key, now: number): string | null => {
  const end = Math.min(until, expiresAt)
  return revokedAt === undefined && end > now ? iso(end) : null
}

export const shownSums = (figures: Figures): ShownSums => ({
  requests: figures.requests,
  errors: figures.errors,
  input: figures.input,
  cache_read: figures.cacheRead,
  cache_write: figures.cacheWrite,
  output: figures.output,
  reasoning: figures.reasoning,
  cost_micro_usd: figures.costMicroUsd,
  fees_micro_usd: figures.feesMicroUsd,
})

const shownRates = (rates: Rates) => ({
  input: rates.input,
  output: rates.output,
  cache_read: rates.cacheRead,
  cache_write: rates.cacheWrite,
  cache_write_1h: rates.cacheWrite1h ?? rates.cacheWrite,
})

const shownKind = (rates: KindRates | undefined) =>
  rates === undefined ? null : { input: rates.input, cache_read: rates.cacheRead, output: rates.output }

export const shownModel = (model: Model): ShownModel => ({
  id: model.id,
  provider: model.provider,
  upstream: model.upstream,
  family: model.family,
  display_name: model.displayName,
  kind: model.kind,
  input_modalities: model.inputModalities,
  output_modalities: model.outputModalities,
  context_window: model.contextWindow,
  max_output_tokens: model.maxOutput,
  tokens_per_image: model.tokensPerImage,
  tokens_per_second: model.tokensPer.second,
  tokens_per_character: model.tokensPer.character,
  price: {
    ...shownRates(model.price),
    long_context:
      model.price.long === undefined ? null : { above: model.price.long.above, ...shownRates(model.price.long) },
    service_tiers: { ...model.price.serviceTiers },
    per_call: { ...model.price.perCall },
    per_image: { ...model.price.perImage },
    audio: shownKind(model.price.audio),
    image: shownKind(model.price.image),
    as_of: model.price.asOf ?? null,
    as_told: model.price.asTold === true,
  },
})

/** A session as others than its owner see it. */
export const memberSession = (member: Pick<Member, 'id' | 'name'>, of: StoredSession): S.MemberSession => ({
  id: sessionId(of.hash),
  member: { id: member.id, name: member.name },
  address: of.address ?? null,
  agent: of.agent ?? null,
  created_at: iso(of.createdAt),
  seen_at: iso(of.seenAt),
  expires_at: iso(of.expiresAt),
})

/** By whose days usage is counted. */
export const shownZone = async (
  settings: Parameters<typeof zoneIn>[0],
): Promise<Pick<S.UsageTable, 'time_zone' | 'time_zone_since' | 'time_zone_before'>> => {
  const { zone, since = null, before = null } = await zoneIn(settings)
  return { time_zone: zone, time_zone_since: since, time_zone_before: before }
}
