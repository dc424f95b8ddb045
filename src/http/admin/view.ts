// What the domain's values look like in the admin API.

import type * as S from '../../admin-api/schema.ts'
import type { Gateway } from '../../gateway.ts'
import { totalTokens } from '../../ir/usage.ts'
import { budgetOf } from '../../keys/budget.ts'
import type { Key } from '../../keys/key.ts'
import { iso, isoOrNull } from '../../lib/iso-time.ts'
import type { Member, MemberLimits, Team } from '../../members/member.ts'
import { shownBudgetOf, shownKey, shownSums, type Terms } from '../../observe/shown.ts'
import type { Ended, Summary } from '../../relay/exchange.ts'
import type { Figures } from '../../store/figures.ts'
import type { Refusal } from '../../store/refusals.ts'
import type { ExchangeRow } from '../../store/usage.ts'
import { type Caller, limitedMember } from './call.ts'

/** Whole riel. */
const khrOf = (microUsd: number, khrPerUsd: number): number => Math.round((microUsd * khrPerUsd) / 1e6)

export const limitsView = (limits: MemberLimits): S.MemberLimits => ({
  max_keys: limits.maxKeys,
  max_tokens_per_key: limits.maxTokensPerKey,
  max_expiry_days: limits.maxExpiryDays,
  models: limits.models,
  server_tools: limits.serverTools ?? 'all',
})

/** What is told beside things that cost: by whose clocks, and of what. */
export const termsOfGateway = ({ clock, config: { calendar }, store }: Gateway): Terms => ({
  now: clock(),
  calendar,
  budgets: store.budgets,
})

export const memberStatus = ({ active }: Member): S.Member['status'] => (active ? 'active' : 'invited')

export const memberView = (
  gateway: Gateway,
  member: Member,
  { keys, factor, team }: { keys: number; factor: boolean; team: Team | undefined },
): S.Member => ({
  id: member.id,
  name: member.name,
  role: member.role,
  status: memberStatus(member),
  second_factor: factor,
  limits: limitsView(member.limits),
  team: team === undefined ? null : { id: team.id, name: team.name },
  budget: shownBudgetOf(budgetOf('member', member.id), termsOfGateway(gateway)),
  keys,
  created_at: iso(member.createdAt),
  invitation_expires_at: isoOrNull(member.invitationExpiresAt),
})

/** `names`: members' names by id. What a member made or owns keeps them when they are removed. */
export const personOf = (
  id: string | undefined,
  names: ReadonlyMap<string, string>,
): { id: string; name: string } | null => (id === undefined ? null : { id, name: names.get(id) ?? 'removed member' })

export const keyView = (
  gateway: Gateway,
  key: Key,
  names: ReadonlyMap<string, string>,
  lastUsedAt: number | undefined,
): S.Key => ({
  ...shownKey(key, termsOfGateway(gateway)),
  purpose: key.purpose ?? null,
  owner: personOf(key.ownerId, names),
  revoked_at: isoOrNull(key.revokedAt),
  last_used_at: isoOrNull(lastUsedAt),
  tokens_held: gateway.ledger.heldBy(key.id),
})

export const memberNames = async (gateway: Gateway): Promise<Map<string, string>> =>
  new Map((await gateway.store.members.list()).map((member) => [member.id, member.name]))

export const oneKeyView = async (gateway: Gateway, key: Key): Promise<S.Key> => {
  const used = await gateway.store.lastUsed([key.id])
  return keyView(gateway, key, await memberNames(gateway), used.get(key.id))
}

export const sumsView = (figures: Figures, khrPerUsd: number): S.Sums => ({
  ...shownSums(figures),
  tokens: totalTokens(figures),
  cost_khr: khrOf(figures.costMicroUsd, khrPerUsd),
})

export const exchangeView = (gateway: Gateway, row: ExchangeRow): S.Exchange => {
  const { input, cacheRead, cacheWrite, output } = row
  const usage = { input: input ?? 0, cacheRead: cacheRead ?? 0, cacheWrite: cacheWrite ?? 0, output: output ?? 0 }
  return {
    id: row.id,
    key: { id: row.keyId, label: gateway.store.keys.get(row.keyId)?.label ?? row.keyId },
    model: row.model,
    wire: row.wire,
    stream: row.stream,
    outcome: row.outcome ?? 'open',
    status: row.status,
    error_code: row.errorCode,
    provider: row.provider,
    account: row.account,
    address: row.address,
    tag: row.tag,
    started_at: iso(row.startedAt),
    ended_at: isoOrNull(row.endedAt),
    first_byte_ms: row.firstByteMs,
    total_ms: row.totalMs,
    attempts: row.attempts,
    input: usage.input,
    cache_read: usage.cacheRead,
    cache_write: usage.cacheWrite,
    output: usage.output,
    reasoning: row.reasoning ?? 0,
    tokens: totalTokens(usage),
    estimated: row.estimated,
    cost_micro_usd: row.costMicroUsd,
    cost_khr: khrOf(row.costMicroUsd, gateway.config.khrPerUsd),
  }
}

/** The same of an exchange that ended this moment. */
export const endedView = (gateway: Gateway, exchange: Ended, summary: Summary): S.Exchange => {
  const last = exchange.attempts.at(-1)
  return {
    id: exchange.id,
    key: { id: exchange.key.id, label: exchange.key.label },
    model: exchange.model.id,
    wire: exchange.wire,
    stream: exchange.stream,
    outcome: summary.outcome,
    status: summary.status,
    error_code: summary.errorCode ?? null,
    provider: last?.provider ?? null,
    account: last?.account ?? null,
    address: exchange.address ?? null,
    tag: exchange.tag ?? null,
    started_at: iso(exchange.startedAt),
    ended_at: iso(exchange.startedAt + summary.totalMs),
    first_byte_ms: exchange.firstByteMs ?? null,
    total_ms: summary.totalMs,
    attempts: exchange.attempts.length,
    input: summary.tokens.input,
    cache_read: summary.tokens.cacheRead,
    cache_write: summary.tokens.cacheWrite,
    output: summary.tokens.output,
    reasoning: summary.reasoning,
    tokens: totalTokens(summary.tokens),
    estimated: summary.estimated,
    cost_micro_usd: summary.costMicroUsd,
    cost_khr: khrOf(summary.costMicroUsd, gateway.config.khrPerUsd),
  }
}

/** The same of a request that was refused before it became an exchange. */
export const refusedView = (gateway: Gateway, refusal: Refusal): S.Exchange => ({
  id: refusal.id,
  key: { id: refusal.keyId, label: gateway.store.keys.get(refusal.keyId)?.label ?? refusal.keyId },
  model: refusal.model ?? null,
  wire: refusal.wire,
  stream: false,
  outcome: 'refused',
  status: refusal.status,
  error_code: refusal.code,
  provider: null,
  account: null,
  address: refusal.address ?? null,
  tag: refusal.tag ?? null,
  started_at: iso(refusal.at),
  ended_at: iso(refusal.at),
  first_byte_ms: null,
  total_ms: null,
  attempts: 0,
  ...{ input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0, tokens: 0 },
  estimated: false,
  ...{ cost_micro_usd: 0, cost_khr: 0 },
})

/** As the caller may see it: which account it went through is the operator's affair. */
export const seenBy = (caller: Caller, exchange: S.Exchange): S.Exchange =>
  limitedMember(caller) === undefined ? exchange : { ...exchange, account: null }
