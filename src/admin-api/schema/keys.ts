// Keys, what they may be used for, and what a new one gets.

import { type Static, Type } from '@sinclair/typebox'
import { Budget } from './budgets.ts'
import { Closed, Count, Days, Nullable, oneOf, Time } from './forms.ts'

/** Which tools that run at a vendor may be used: all, none, or those named, such as web_search or mcp. */
export const ServerTools = Type.Union(
  [
    Type.Literal('all'),
    Type.Literal('none'),
    Type.Array(
      Type.String({
        pattern: '^ *[A-Za-z][A-Za-z0-9_:-]{0,63} *$',
        description: 'the name of a tool, such as web_search',
      }),
      { minItems: 1, maxItems: 50 },
    ),
  ],
  { description: 'Tools that run at the vendor: all, none, or those named, such as web_search or mcp.' },
)
export type ServerTools = Static<typeof ServerTools>

/** Addresses and networks a key may be used from; null: from anywhere. */
export const Networks = Type.Array(
  Type.String({
    minLength: 1,
    maxLength: 50,
    description: 'an address or a network, such as 203.0.113.7 or 10.0.0.0/8',
  }),
  { minItems: 1, maxItems: 100 },
)

/** What a new key gets where its maker says nothing. Limits null: the gateway's own. */
export const KeyDefaults = Type.Object({
  tokens_total: Count,
  expires_days: Days,
  models: Type.Array(Type.String()),
})

export const RateLimits = Type.Object({ rpm: Count, tpm: Count, concurrency: Count }, Closed)
export type RateLimits = Static<typeof RateLimits>

export const KeyStatus = oneOf(['active', 'exhausted', 'expired', 'revoked'])
export type KeyStatus = Static<typeof KeyStatus>

/** How often used tokens are set back to 0: as every day, every Monday or every first of a month begins in the time zone. */
export const Renewal = oneOf(['day', 'week', 'month'])

/** What of a key's exchanges goes to OpenTelemetry beside their figures: `content` is prompts and answers. */
export const Capture = oneOf(['none', 'content'])

/** `rpm`, `tpm`, `concurrency`: null takes the gateway's default, 0 is no limit. */
export const Key = Type.Object({
  id: Type.String(),
  label: Type.String(),
  last_four: Nullable(Type.String({ description: 'Of its secret; null for keys made before these were kept.' })),
  purpose: Nullable(
    oneOf(['playground'], { description: 'What the gateway made it for itself; null for all others.' }),
  ),
  owner: Nullable(Type.Object({ id: Type.String(), name: Type.String() })),
  status: KeyStatus,
  created_at: Time,
  expires_at: Time,
  revoked_at: Nullable(Time),
  last_used_at: Nullable(Time),
  /** Until when the secret before this one works, too; null where it does not. */
  old_secret_until: Nullable(Time),
  tokens_total: Count,
  /** The part of the total that ends with the period of a quota that renews: what it was topped up by. */
  tokens_extra: Count,
  tokens_used: Count,
  tokens_remaining: Count,
  tokens_held: Count,
  /** Null: the quota does not renew. */
  renews: Nullable(Renewal),
  /** Null for a revoked key as well. */
  renews_at: Nullable(Time),
  models: Type.Array(Type.String()),
  rpm: Nullable(Count),
  tpm: Nullable(Count),
  concurrency: Nullable(Count),
  server_tools: ServerTools,
  budget: Nullable(Budget),
  ips: Nullable(Networks),
  capture: Capture,
})
export type Key = Static<typeof Key>

/** A row of the list; `spark` is tokens per day of the time zone over the last 14 days, today last. */
export const ListedKey = Type.Composite([Key, Type.Object({ spark: Type.Array(Count) })])
export type ListedKey = Static<typeof ListedKey>

/** A key of the caller's own for the playground, in no list and short-lived; it ends when they sign out. */
export const PlaygroundKey = Type.Object({
  secret: Type.String(),
  key_id: Type.String(),
  expires_at: Time,
  tokens_total: Count,
})

/** The one time a secret is shown. */
export const KeyWithSecret = Type.Object({ key: Key, secret: Type.String() })
export type KeyWithSecret = Static<typeof KeyWithSecret>
