// Budgets: as they are given, as they stand, and whose they are.

import { type Static, Type } from '@sinclair/typebox'
import { Closed, Count, Nullable, oneOf, Time } from './forms.ts'

const BudgetRenewal = oneOf(['day', 'week', 'month', 'never'])

const Percents = Type.Array(Type.Integer({ minimum: 1, maximum: 1000 }), { maxItems: 10 })

/** What a key, a member, a team or the whole gateway may use, as it is given: in `usd` or in `tokens`. */
export const BudgetTerms = Type.Object(
  {
    usd: Type.Optional(Type.Number({ minimum: 0, maximum: 1e9 })),
    tokens: Type.Optional(Type.Integer({ minimum: 0, maximum: Math.floor(Number.MAX_SAFE_INTEGER / 100) })),
    renews: Type.Optional(BudgetRenewal),
    warn_at: Type.Optional(Percents),
  },
  { ...Closed, description: 'In usd or in tokens; warn_at is percent of it (80 and 100).' },
)
export type BudgetTerms = Static<typeof BudgetTerms>

/** `used` and `remaining` are whole micro-USD, or tokens, as the budget is; both of what was used are counted. */
export const Budget = Type.Object({
  usd: Nullable(Type.Number()),
  tokens: Nullable(Count),
  renews: BudgetRenewal,
  warn_at: Percents,
  used: Count,
  remaining: Count,
  used_tokens: Count,
  used_micro_usd: Count,
  since: Time,
  renews_at: Nullable(Time),
})
export type Budget = Static<typeof Budget>

/** A budget with its owner; `owner` is null for the gateway's. `managed`: what the file says is changed there. */
export const OwnedBudget = Type.Object({
  id: Type.String({ description: '`gateway`, or `key:`, `member:` or `team:` and the id of its owner.' }),
  managed: oneOf(['file', 'store']),
  kind: oneOf(['key', 'member', 'team', 'gateway']),
  owner: Nullable(Type.Object({ id: Type.String(), name: Type.String() })),
  budget: Budget,
})
export type OwnedBudget = Static<typeof OwnedBudget>
