// The gateway itself: settings, what is read again, whom it tells of trouble, who changed what, what is open.

import { type Static, Type } from '@sinclair/typebox'
import { Count, Nullable, oneOf, Time } from './forms.ts'
import { KeyDefaults, Networks, RateLimits } from './keys.ts'

export const TrustProxy = Type.Union([Type.Boolean(), Type.Array(Networks.items, { maxItems: 100 })], {
  description: 'Whose X-Forwarded-For, -Host and -Proto are believed: anyone who calls, nobody, or the proxies listed.',
})

/** In force now; `overridden` names those set here rather than by the configuration. */
export const Settings = Type.Object({
  khr_per_usd: Type.Number(),
  retention_days: Type.Number({ description: 'How long single exchanges are kept; 0 keeps them for ever.' }),
  limits: RateLimits,
  key_defaults: KeyDefaults,
  trust_proxy: TrustProxy,
  second_factor_for_admins: Type.Boolean({ description: 'Whether every admin must have a second factor.' }),
  session_days: Type.Integer({ description: 'Days after sign-in until a session of the dashboard ends.' }),
  overridden: Type.Array(Type.String()),
})
export type Settings = Static<typeof Settings>

/** `problems`: for which nothing was changed; else what changed, needs a restart, and is overridden by settings. */
export const Reloaded = Type.Object({
  changed: Type.Array(Type.String()),
  refused: Type.Array(Type.String()),
  overridden: Type.Array(Type.String()),
  warnings: Type.Array(Type.String()),
  problems: Type.Array(Type.String()),
})
export type Reloaded = Static<typeof Reloaded>

/** Someone the configuration has told of trouble. `to`: a host or addresses, nothing that is secret. */
export const AlertReceiver = Type.Object({
  name: Type.String(),
  kind: oneOf(['webhook', 'email']),
  format: Nullable(oneOf(['json', 'slack', 'discord'])),
  to: Type.String(),
  only: Nullable(Type.Array(Type.String(), { description: 'What it is told of; null: everything.' })),
  waiting: Count,
  sent_at: Nullable(Time),
  failing: Nullable(Type.Object({ since: Time, words: Type.String() })),
})
export type AlertReceiver = Static<typeof AlertReceiver>

/** What became of a test. */
export const AlertTest = Type.Object({ receiver: Type.String(), ok: Type.Boolean(), words: Type.String() })
export type AlertTest = Static<typeof AlertTest>

export const AuditEntry = Type.Object({
  row: Count,
  at: Time,
  actor: Type.Object({
    kind: oneOf(['cli', 'member', 'token', 'system']),
    id: Type.String(),
    name: Nullable(Type.String()),
  }),
  action: Type.String(),
  target: Type.String(),
  target_name: Nullable(Type.String({ description: 'What the target is called now: a label or a name.' })),
  before: Type.Unknown(),
  after: Type.Unknown(),
})
export type AuditEntry = Static<typeof AuditEntry>

/** What is open in this process at this moment; all but `rss_bytes` come back to rest when nothing is under way. */
export const State = Type.Object({
  open_exchanges: Count,
  open_reservations: Count,
  pending_requests: Count,
  provider_attempts: Count,
  live_streams: Count,
  draining: Type.Boolean(),
  uptime_ms: Count,
  rss_bytes: Count,
  heap_bytes: Count,
})
export type State = Static<typeof State>

/** What a client's own files say of this gateway, with `YOUR_KEY` for the secret, and what starts it. */
export const ConnectedClient = Type.Object({
  name: Type.String(),
  title: Type.String(),
  files: Type.Array(Type.Object({ shown: Type.String(), text: Type.String() })),
  start: Type.String(),
  notes: Type.Array(Type.String()),
})
export type ConnectedClient = Static<typeof ConnectedClient>
