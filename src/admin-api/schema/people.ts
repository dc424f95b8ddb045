// Who uses the dashboard, and what they may do: members and teams, sessions, invitations, admin tokens.

import { type Static, Type } from '@sinclair/typebox'
import { Budget } from './budgets.ts'
import { Closed, Count, Days, Nullable, oneOf, Time } from './forms.ts'
import { KeyDefaults, ServerTools } from './keys.ts'

export const Role = oneOf(['admin', 'member'])
export type Role = Static<typeof Role>

/** What a member's own keys may be made of; null is no limit. Admins have none. */
export const MemberLimits = Type.Object(
  {
    max_keys: Nullable(Count),
    max_tokens_per_key: Nullable(Count),
    max_expiry_days: Nullable(Days),
    models: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      minItems: 1,
      maxItems: 200,
      description: 'Catalogue ids, * as a wildcard.',
    }),
    server_tools: ServerTools,
  },
  Closed,
)
export type MemberLimits = Static<typeof MemberLimits>

export const Member = Type.Object({
  id: Type.String(),
  name: Type.String(),
  role: Role,
  status: oneOf(['active', 'invited']),
  second_factor: Type.Boolean(),
  limits: MemberLimits,
  team: Nullable(Type.Object({ id: Type.String(), name: Type.String() })),
  budget: Nullable(Budget),
  keys: Count,
  created_at: Time,
  invitation_expires_at: Nullable(Time),
})
export type Member = Static<typeof Member>

/** A named group of members; a member is in at most one. */
export const Team = Type.Object({
  id: Type.String(),
  name: Type.String(),
  members: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
  keys: Type.Integer({ description: 'That its members have, revoked and expired ones too.' }),
  budget: Nullable(Budget),
  created_at: Time,
})
export type Team = Static<typeof Team>

/** Shown once. `path` is the page's own, for the page to put its origin before. */
export const Invitation = Type.Object({ token: Type.String(), path: Type.String(), expires_at: Time })
export type Invitation = Static<typeof Invitation>

/** Who is calling. `member` null: nobody is signed in, or an admin token calls (`token` true). */
export const Session = Type.Object({
  signed_in: Type.Boolean(),
  setup_needed: Type.Boolean(),
  token: Type.Boolean(),
  member: Nullable(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      role: Role,
      limits: MemberLimits,
      may_renew: Type.Boolean({ description: 'The quotas of their keys may renew, within a budget.' }),
      second_factor: Type.Boolean(),
      recovery_codes: Type.Integer({ description: 'How many are left.' }),
    }),
  ),
  second_factor_due: Type.Boolean({ description: 'One must be set up before anything else can be done.' }),
  key_defaults: Nullable(KeyDefaults),
  khr_per_usd: Nullable(Type.Number()),
  time_zone: Nullable(Type.String({ description: 'By whose clocks days begin, and quotas and budgets renew.' })),
  traces: Nullable(Type.Boolean({ description: 'Whether traces are exported by OpenTelemetry.' })),
  version: Nullable(Type.String()),
})
export type Session = Static<typeof Session>

/** One of the caller's own; `address` and `agent`, what the browser calls itself, are of its beginning. */
export const OwnSession = Type.Object({
  id: Type.String(),
  current: Type.Boolean({ description: 'The one that asks.' }),
  address: Nullable(Type.String()),
  agent: Nullable(Type.String()),
  created_at: Time,
  seen_at: Time,
  expires_at: Time,
})
export type OwnSession = Static<typeof OwnSession>

/** A session of any member's. */
export const MemberSession = Type.Object({
  id: Type.String(),
  member: Type.Object({ id: Type.String(), name: Type.String() }),
  address: Nullable(Type.String()),
  agent: Nullable(Type.String()),
  created_at: Time,
  seen_at: Time,
  expires_at: Time,
})
export type MemberSession = Static<typeof MemberSession>

export const AdminToken = Type.Object({
  id: Type.String(),
  label: Type.String(),
  created_by: Nullable(Type.Object({ id: Type.String(), name: Type.String() })),
  created_at: Time,
  expires_at: Nullable(Time),
  used_at: Nullable(Time),
  status: oneOf(['active', 'expired', 'revoked']),
})
export type AdminToken = Static<typeof AdminToken>

export const AdminTokenWithSecret = Type.Object({ token: AdminToken, secret: Type.String() })
export type AdminTokenWithSecret = Static<typeof AdminTokenWithSecret>
