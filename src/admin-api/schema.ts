// The admin API's resources: the one source of their shapes. The page, the command line and scripts take the types.
// Names are snake_case, times ISO 8601 in UTC with milliseconds, durations ms, money whole micro-USD (and riel beside).

import { type SchemaOptions, type Static, type TSchema, Type } from '@sinclair/typebox'

const Time = Type.String({ description: 'ISO 8601, UTC, with milliseconds.' })
export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export const Days = Type.Integer({ minimum: 1, maximum: 36_500 })
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
export const Closed = { additionalProperties: false }
export const oneOf = <const T extends string>(values: readonly T[], options: SchemaOptions = {}) =>
  Type.Unsafe<T>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      options,
    ),
  )

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

/** Addresses and networks a key may be used from; null: from anywhere. */
export const Networks = Type.Array(
  Type.String({
    minLength: 1,
    maxLength: 50,
    description: 'an address or a network, such as 203.0.113.7 or 10.0.0.0/8',
  }),
  { minItems: 1, maxItems: 100 },
)

export const Role = oneOf(['admin', 'member'])

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

/** A named group of members; a member is in at most one. */
export const Team = Type.Object({
  id: Type.String(),
  name: Type.String(),
  members: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
  keys: Type.Integer({ description: 'That its members have, revoked and expired ones too.' }),
  budget: Nullable(Budget),
  created_at: Time,
})

/** A budget with its owner; `owner` is null for the gateway's. `managed`: what the file says is changed there. */
export const OwnedBudget = Type.Object({
  id: Type.String({ description: '`gateway`, or `key:`, `member:` or `team:` and the id of its owner.' }),
  managed: oneOf(['file', 'store']),
  kind: oneOf(['key', 'member', 'team', 'gateway']),
  owner: Nullable(Type.Object({ id: Type.String(), name: Type.String() })),
  budget: Budget,
})

/** Shown once. `path` is the page's own, for the page to put its origin before. */
export const Invitation = Type.Object({ token: Type.String(), path: Type.String(), expires_at: Time })

/** What a new key gets where its maker says nothing. Limits null: the gateway's own. */
const KeyDefaults = Type.Object({
  tokens_total: Count,
  expires_days: Days,
  models: Type.Array(Type.String()),
})

export const RateLimits = Type.Object({ rpm: Count, tpm: Count, concurrency: Count }, Closed)

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

export const KeyStatus = oneOf(['active', 'exhausted', 'expired', 'revoked'])

/** How often used tokens are set back to 0: at 00:00 UTC of every day, every Monday or every first of a month. */
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

/** A row of the list; `spark` is tokens per UTC day over the last 14 days, today last. */
export const ListedKey = Type.Composite([Key, Type.Object({ spark: Type.Array(Count) })])

/** A key of the caller's own for the playground, in no list and short-lived; it ends when they sign out. */
export const PlaygroundKey = Type.Object({
  secret: Type.String(),
  key_id: Type.String(),
  expires_at: Time,
  tokens_total: Count,
})

/** The one time a secret is shown. */
export const KeyWithSecret = Type.Object({ key: Key, secret: Type.String() })

/** Its classes are disjoint; reasoning is part of output. */
const Tokens = {
  input: Count,
  cache_read: Count,
  cache_write: Count,
  output: Count,
  reasoning: Count,
  tokens: Count,
}

/** `cost_khr` is whole riel. `fees_micro_usd`: the part of the cost that is of calls, pictures and the like, and not of tokens. */
export const Sums = Type.Object({
  requests: Count,
  errors: Count,
  ...Tokens,
  cost_micro_usd: Count,
  cost_khr: Count,
  fees_micro_usd: Count,
})

/** `at` is the start of an hour or of a UTC day. */
export const Point = Type.Composite([Type.Object({ at: Time }), Sums])

/**
 * One line of a chart: `group` is as in the table, `all`, or `other` for all groups past the largest. It has a
 * point for every step from `since` to `until`, empty ones included.
 */
export const Series = Type.Object({
  group: Type.String(),
  label: Type.String(),
  place: Type.Integer({ minimum: 0, description: 'Where it stands among its kind, whatever it used.' }),
  totals: Sums,
  points: Type.Array(Point),
})

const Percentiles = Type.Object({ p50: Count, p95: Count, p99: Count })

export const Latency = Type.Object({
  sampled: Type.Integer({ description: 'Answered exchanges looked at: an even sample over the range.' }),
  first_byte_ms: Nullable(Percentiles),
  total_ms: Nullable(Percentiles),
})

export const Step = oneOf(['hour', 'day'])

/** `whole`: false where there may be more than were looked at. */
const Unfinished = Type.Object(
  { requests: Count, tokens: Count, whole: Type.Boolean() },
  {
    description:
      'Answers that broke off or that the client left, billed by an estimate of their prompt: a client that asks again for a broken stream is billed for each.',
  },
)

/** Sums of a time, and what was refused in it. */
const Whole = Type.Object({
  totals: Sums,
  refused: Count,
  error_share: Nullable(Type.Number()),
})

/** `step` is a day where hours were asked for that are no longer kept for single keys. */
export const Usage = Type.Object({
  step: Step,
  since: Time,
  until: Time,
  series: Type.Array(Series),
  totals: Sums,
  refused: Type.Array(Type.Object({ code: Type.String(), count: Count }), {
    description: 'Requests that were refused before they became exchanges, most first; they are not in the sums.',
  }),
  error_share: Nullable(
    Type.Number({ description: '0 to 1 of all requests, refused ones included; null without requests.' }),
  ),
  before: Nullable(Whole),
  cache_hit_share: Nullable(Type.Number({ description: '0 to 1 of prompt tokens that were read from a cache.' })),
  latency: Latency,
  /** Of one key. */
  unfinished: Type.Optional(Unfinished),
  khr_per_usd: Type.Number(),
})

/** Calls of tools that ran at the vendor, by tool. */
const ServerToolCalls = Type.Record(Type.String(), Count, { description: 'Calls of tools that ran at the vendor.' })

/**
 * Sums by group, whole: `group` is the id of a model, key, member or team, `provider/account`, a provider, a tag or a UTC day
 * (`2026-09-01`), in that order; '' is what has none.
 */
export const UsageTable = Type.Object({
  /** From when it counts, which may be earlier than was asked for; null: from the beginning. */
  since: Nullable(Time),
  rows: Type.Array(
    Type.Composite([
      Type.Object({
        group: Type.String(),
        label: Type.String(),
        owner: Type.Optional(Nullable(Type.String({ description: 'By key: the name of the member whose it is.' }))),
        server_tools: Type.Optional(ServerToolCalls),
      }),
      Sums,
    ]),
  ),
  khr_per_usd: Type.Number(),
  /** By which days are counted: since when, and by which before. Null: since the beginning. */
  time_zone: Type.String(),
  time_zone_since: Nullable(Time),
  time_zone_before: Nullable(Type.String()),
})

export const Outcome = oneOf(['open', 'done', 'refused', 'failed', 'aborted'])

/**
 * One client request: an exchange, or one that was refused before it became one. `model` is what was asked for; `provider` … what answered last; members are not told which account.
 * Never a prompt, never an answer.
 */
export const Exchange = Type.Object({
  id: Type.String(),
  key: Type.Object({ id: Type.String(), label: Type.String() }),
  model: Nullable(Type.String({ description: 'Null: refused before it was known.' })),
  wire: Type.String(),
  stream: Type.Boolean(),
  outcome: Outcome,
  status: Nullable(Type.Integer()),
  error_code: Nullable(Type.String()),
  provider: Nullable(Type.String()),
  account: Nullable(Type.String()),
  address: Nullable(Type.String({ description: 'Where the client asked from.' })),
  tag: Nullable(Type.String({ description: 'What it is billed as, by the header x-gateway-tag.' })),
  started_at: Time,
  ended_at: Nullable(Time),
  first_byte_ms: Nullable(Count),
  total_ms: Nullable(Count),
  attempts: Count,
  ...Tokens,
  estimated: Type.Boolean(),
  cost_micro_usd: Count,
  cost_khr: Count,
})

/**
 * One try at one target. `ms` runs until its answer began or it failed. `result` `answered` has no error code. Members are
 * told neither the account nor what the provider said.
 */
export const Attempt = Type.Object({
  provider: Type.String(),
  account: Nullable(Type.String()),
  model: Type.String(),
  wire: Type.String(),
  result: oneOf(['answered', 'failed', 'ended']),
  error_code: Nullable(Type.String()),
  provider_status: Nullable(Type.Integer()),
  provider_code: Nullable(Type.String()),
  provider_request_id: Nullable(Type.String()),
  ms: Nullable(Count),
})

/** One thing the gateway looked at before it called a provider, in the order it did. `detail` is a sentence. */
export const Check = Type.Object({ name: Type.String(), passed: Type.Boolean(), detail: Type.String() })

export const ExplainedExchange = Type.Object({
  exchange: Exchange,
  failure: Nullable(
    Type.Object(
      { happened: Type.String(), why: Type.String(), todo: Type.String() },
      { description: 'Of one that failed or was refused: what happened, why most often, and what to do.' },
    ),
  ),
  checks: Type.Array(Check),
  quota: Nullable(
    Type.Object({
      input_estimate: Count,
      reserved: Count,
      billed: Count,
      left_before: Nullable(Type.Integer()),
      left_after: Nullable(Type.Integer()),
    }),
  ),
  route: Type.Object({
    model: Nullable(Type.String()),
    upstream_model: Nullable(Type.String()),
    client_wire: Type.String(),
    provider_wire: Nullable(Type.String()),
    mode: Nullable(oneOf(['pass', 'translate'])),
    why: Type.Array(Type.String()),
  }),
  attempts: Type.Array(Attempt),
  server_tools: ServerToolCalls,
  fees_micro_usd: Type.Integer({
    minimum: 0,
    description: 'The part of the cost that is of those calls, of pictures and the like.',
  }),
  dropped: Type.Array(Type.String(), { description: 'Members of the request the provider wire could not say.' }),
  raw_usage: Type.Unknown({ description: "The provider's own usage object, or null; for members null." }),
})

export const BreakerState = oneOf(['closed', 'open', 'half-open'])

export const TargetHealth = Type.Object({
  provider: Type.String(),
  account: Type.String(),
  wires: Type.Array(Type.String()),
  state: BreakerState,
  in_flight: Count,
})

const Rates = {
  input: Type.Number(),
  output: Type.Number(),
  cache_read: Type.Number(),
  cache_write: Type.Number(),
  cache_write_1h: Type.Number(),
}

const KindRates = { input: Type.Number(), cache_read: Type.Number(), output: Type.Number() }

/**
 * Prices are USD per million tokens. `targets` is empty where no account is configured. Members are told neither the
 * targets nor `upstream`, the provider's own id.
 */
export const Model = Type.Object({
  id: Type.String(),
  provider: Type.String(),
  upstream: Nullable(Type.String()),
  family: Type.String(),
  display_name: Type.String(),
  kind: oneOf(['text', 'image', 'embedding', 'moderation', 'speech', 'transcription']),
  input_modalities: Type.Array(Type.String()),
  output_modalities: Type.Array(Type.String()),
  context_window: Count,
  max_output_tokens: Count,
  tokens_per_image: Count,
  tokens_per_second: Type.Number({ minimum: 0 }),
  tokens_per_character: Type.Number({ minimum: 0 }),
  aliases: Type.Array(Type.String()),
  price: Type.Object({
    ...Rates,
    long_context: Nullable(
      Type.Object({ above: Count, ...Rates }, { description: 'For prompts of more tokens than `above`.' }),
    ),
    service_tiers: Type.Record(Type.String(), Type.Number(), {
      description: 'So many times as much, by the class of service that the provider tells.',
    }),
    per_call: Type.Record(Type.String(), Type.Number(), {
      description: 'USD for a call of a tool that runs at the vendor.',
    }),
    per_image: Type.Record(Type.String(), Type.Number(), {
      description: 'USD for a picture, by quality and size (high/1024x1024), one of them, or default.',
    }),
    audio: Nullable(Type.Object(KindRates, { description: 'Of tokens of sound, where they cost something else.' })),
    image: Nullable(Type.Object(KindRates, { description: 'Of tokens of pictures, where they cost something else.' })),
    as_of: Nullable(Type.String({ description: 'The day of the price list, such as 2026-11-27; null: not known.' })),
  }),
  fallbacks: Type.Array(Type.String()),
  available: Type.Boolean({ description: 'Some account is configured that serves it.' }),
  targets: Type.Array(TargetHealth),
})

/** The catalogue in its order. `aliases`: name → id; `brands`: the word that ids also answer under. */
export const Catalogue = Type.Object({
  items: Type.Array(Model),
  aliases: Type.Record(Type.String(), Type.String()),
  brands: Type.Array(Type.Object({ neutral: Type.String(), branded: Type.String() })),
})

/** What a client's own files say of this gateway, with `YOUR_KEY` for the secret, and what starts it. */
export const ConnectedClient = Type.Object({
  name: Type.String(),
  title: Type.String(),
  files: Type.Array(Type.Object({ shown: Type.String(), text: Type.String() })),
  start: Type.String(),
  notes: Type.Array(Type.String()),
})

/**
 * One credential of a provider, without the credential. `base_url` has no user, password or query. `failures`: attempts
 * that failed since the last that did not, the first of them at `failing_since`. `trouble`: what only the owner can mend, an
 * account out of money or a model whose `upstream` id the provider does not know; null again after the next answer.
 * `managed`: who says that there is such an account; only those of the store are changed here. `problem`: why one of those is
 * not used. `first_byte_ms`: the median of its last answers. That, `last_error`, `last_used_at` and `spent_micro_usd` are of all
 * processes and starts; what is long ago is told by what this process knows, the last use then by its hour.
 */
export const Account = Type.Object({
  provider: Type.String(),
  name: Type.String(),
  base_url: Type.String(),
  weight: Type.Number(),
  wires: Type.Array(Type.String()),
  in_flight: Count,
  state: BreakerState,
  managed: oneOf(['file', 'environment', 'store']),
  preset: Nullable(Type.String()),
  credential: Type.Object({
    /** `env` is read at a start, `file` at a reload as well. */
    kind: oneOf(['env', 'file', 'literal', 'sealed', 'none']),
    name: Nullable(Type.String({ description: 'Of the variable or the file.' })),
    last_four: Nullable(Type.String()),
  }),
  problem: Nullable(Type.String()),
  last_used_at: Nullable(Time),
  last_error: Nullable(
    Type.Object({ at: Time, model: Type.String(), error_code: Type.String(), words: Type.String() }),
  ),
  first_byte_ms: Nullable(Count),
  spent_micro_usd: Count,
  spent_since: Time,
  models: Type.Array(
    Type.Object({
      model: Type.String(),
      state: BreakerState,
      in_flight: Count,
      failures: Count,
      failing_since: Nullable(Time),
      trouble: Nullable(Type.Object({ what: oneOf(['no_money', 'unknown_model']), upstream: Nullable(Type.String()) })),
    }),
  ),
})

/**
 * What an account said when it was asked for a word. `model` and `upstream`: null for what holds for the account as a
 * whole. `verdict`: a word for programs; `words`: a sentence for people, never the provider's.
 */
export const Finding = Type.Object({
  model: Nullable(Type.String()),
  upstream: Nullable(Type.String()),
  ok: Type.Boolean(),
  verdict: Type.String(),
  words: Type.String(),
})

/** A vendor or server that is known. `base_url` null: it is each owner's own. `credential_shape`: a pattern, or null. */
export const Preset = Type.Object({
  name: Type.String(),
  title: Type.String(),
  base_url: Nullable(Type.String()),
  wires: Type.Array(Type.String()),
  credential_shape: Nullable(Type.String()),
  open: Type.Boolean({ description: 'Asks for no credential.' }),
})

export const EntrySection = oneOf(['providers', 'accounts', 'models', 'aliases', 'fallbacks'])

/**
 * A member of the configuration. `managed` `file`: it stands in the configuration file and is changed there. `problem`: why one
 * that is kept here is not in force. `value`: as the file says it, never with a secret; null for those of the file.
 */
export const Entry = Type.Object({
  section: EntrySection,
  name: Type.String(),
  managed: oneOf(['file', 'store']),
  value: Type.Unknown(),
  problem: Nullable(Type.String()),
  updated_at: Nullable(Time),
})

/** `problems`: for which nothing was changed; else what changed, needs a restart, and is overridden by settings. */
export const Reloaded = Type.Object({
  changed: Type.Array(Type.String()),
  refused: Type.Array(Type.String()),
  overridden: Type.Array(Type.String()),
  warnings: Type.Array(Type.String()),
  problems: Type.Array(Type.String()),
})
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

/** What became of a test. */
export const AlertTest = Type.Object({ receiver: Type.String(), ok: Type.Boolean(), words: Type.String() })

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

export const AdminToken = Type.Object({
  id: Type.String(),
  label: Type.String(),
  created_by: Nullable(Type.Object({ id: Type.String(), name: Type.String() })),
  created_at: Time,
  expires_at: Nullable(Time),
  used_at: Nullable(Time),
  status: oneOf(['active', 'expired', 'revoked']),
})

export const AdminTokenWithSecret = Type.Object({ token: AdminToken, secret: Type.String() })

/** The data of a `counters` frame of the live stream; an `exchange` frame carries an Exchange. */
export const Counters = Type.Object({ at: Time, open_exchanges: Count, finished: Count, errors: Count })

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

export type Role = Static<typeof Role>
export type ServerTools = Static<typeof ServerTools>
export type MemberLimits = Static<typeof MemberLimits>
export type Member = Static<typeof Member>
export type BudgetTerms = Static<typeof BudgetTerms>
export type Budget = Static<typeof Budget>
export type OwnedBudget = Static<typeof OwnedBudget>
export type Team = Static<typeof Team>
export type Invitation = Static<typeof Invitation>
export type RateLimits = Static<typeof RateLimits>
export type Session = Static<typeof Session>
export type OwnSession = Static<typeof OwnSession>
export type ConnectedClient = Static<typeof ConnectedClient>
export type MemberSession = Static<typeof MemberSession>
export type KeyStatus = Static<typeof KeyStatus>
export type Key = Static<typeof Key>
export type ListedKey = Static<typeof ListedKey>
export type KeyWithSecret = Static<typeof KeyWithSecret>
export type Sums = Static<typeof Sums>
export type Point = Static<typeof Point>
export type Series = Static<typeof Series>
export type Latency = Static<typeof Latency>
export type Usage = Static<typeof Usage>
export type UsageTable = Static<typeof UsageTable>
export type Exchange = Static<typeof Exchange>
export type Attempt = Static<typeof Attempt>
export type Check = Static<typeof Check>
export type ExplainedExchange = Static<typeof ExplainedExchange>
export type BreakerState = Static<typeof BreakerState>
export type TargetHealth = Static<typeof TargetHealth>
export type Model = Static<typeof Model>
export type Catalogue = Static<typeof Catalogue>
export type Account = Static<typeof Account>
export type Preset = Static<typeof Preset>
export type EntrySection = Static<typeof EntrySection>
export type Entry = Static<typeof Entry>
export type Reloaded = Static<typeof Reloaded>
export type Finding = Static<typeof Finding>
export type AlertReceiver = Static<typeof AlertReceiver>
export type AlertTest = Static<typeof AlertTest>
export type AuditEntry = Static<typeof AuditEntry>
export type Settings = Static<typeof Settings>
export type AdminToken = Static<typeof AdminToken>
export type AdminTokenWithSecret = Static<typeof AdminTokenWithSecret>
export type Counters = Static<typeof Counters>
export type State = Static<typeof State>
