// What each route of the admin API takes and gives, by the route's name. Types for callers: `Input<N>`, `Output<N>`.

import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { GRACE_DAYS, LABEL_LENGTH, MOST_SESSION_DAYS } from './bounds.ts'
import type { RouteName } from './routes.ts'
import { Closed, Count, Days, Nullable, oneOf } from './schema/forms.ts'
import * as S from './schema.ts'

/** `params` come from the path, `query` from the query string (numbers written in decimal), `body` is JSON. */
export type Contract = { params?: TSchema; query?: TSchema; body?: TSchema; output: TSchema }

const input = <T extends Record<string, TSchema>>(members: T) => Type.Object(members, Closed)
const list = <T extends TSchema>(item: T) => Type.Object({ items: Type.Array(item) })
/** `next` is the `before` of the following page; null on the last. */
const page = <T extends TSchema>(item: T) => Type.Object({ items: Type.Array(item), next: Nullable(Type.Integer()) })

const Id = input({ id: Type.String({ minLength: 1, maxLength: 100 }) })
const Done = Type.Object({ done: Type.Literal(true) })
const Name = Type.String({ minLength: 1, maxLength: 100 })
const Label = Type.String({ minLength: 1, maxLength: LABEL_LENGTH })
const Password = Type.String({ minLength: 12, maxLength: 200 })
/** Of an authenticator, or one for recovery. */
const Code = Type.String({ minLength: 1, maxLength: 40 })
const RecoveryCodes = Type.Object({ recovery_codes: Type.Array(Type.String(), { description: 'Shown this once.' }) })
const Given = Type.String({ minLength: 1, maxLength: 200 })
/** Given to be sealed; shown to nobody again. */
const Credential = Type.String({ minLength: 1, maxLength: 16_384 })
const Time = Type.String({ minLength: 1, maxLength: 40, description: 'ISO 8601.' })
const Models = Type.Array(Given, { minItems: 1, maxItems: 200 })
const Limit = Type.Integer({ minimum: 1, maximum: 200, default: 50 })
const Range = {
  since: Type.Optional(Time),
  until: Type.Optional(Time),
}
/** What groups come in order of: the most of it first. */
const Most = oneOf(['tokens', 'cost', 'requests'], { default: 'tokens' })
const Invited = Type.Object({ member: S.Member, invitation: S.Invitation })
const KeyMembers = {
  tokens_total: Type.Optional(Count),
  renews: Type.Optional(Nullable(S.Renewal)),
  expires_at: Type.Optional(Time),
  models: Type.Optional(Models),
  rpm: Type.Optional(Nullable(Count)),
  tpm: Type.Optional(Nullable(Count)),
  concurrency: Type.Optional(Nullable(Count)),
  server_tools: Type.Optional(S.ServerTools),
  budget: Type.Optional(Nullable(S.BudgetTerms)),
  ips: Type.Optional(Nullable(S.Networks)),
  capture: Type.Optional(S.Capture),
}
/** A new account: of a provider there is, or of one that its preset or its wires make. */
const NewAccount = input({
  preset: Type.Optional(Given),
  provider: Type.Optional(Given),
  name: Type.Optional(Given),
  base_url: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000 })),
  credential: Type.Optional(Credential),
  weight: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  wires: Type.Optional(Type.Array(Given, { minItems: 1, maxItems: 20 })),
  auth: Type.Optional(Given),
})
const AccountId = { provider: Given, account: Given }
const EntryId = input({ section: S.EntrySection, name: Given })
const Limits = Type.Partial(S.MemberLimits, Closed)
/** `team`: its id; null: none. */
const Belonging = { team: Type.Optional(Nullable(Given)), budget: Type.Optional(Nullable(S.BudgetTerms)) }

export const CONTRACT = {
  'session.get': { output: S.Session },
  'session.sign-in': { body: input({ name: Name, password: Given, code: Type.Optional(Code) }), output: S.Session },
  'session.sign-out': { output: Done },
  'session.sign-out-everywhere': { output: Done },
  'sessions.list': { output: list(S.OwnSession) },
  'sessions.end': { params: Id, output: Done },
  'session.password': { body: input({ current: Given, password: Password }), output: Done },
  'session.prove': { body: input({ password: Given, code: Type.Optional(Code) }), output: Done },
  'second-factor.offer': {
    output: Type.Object({ secret: Type.String(), uri: Type.String({ description: 'otpauth://…, for a QR code.' }) }),
  },
  'second-factor.enable': { body: input({ code: Code }), output: RecoveryCodes },
  'second-factor.renew-codes': { output: RecoveryCodes },
  'second-factor.remove': { output: Done },
  setup: { body: input({ token: Given, name: Name, password: Password }), output: S.Session },
  'invitation.open': {
    body: input({ token: Given }),
    output: Type.Object({
      name: Type.String(),
      role: S.Role,
      status: S.Member.properties.status,
      expires_at: Type.String(),
      needs_code: Type.Boolean({ description: 'Of the second factor, which the link leaves as it is.' }),
    }),
  },
  'invitation.accept': {
    body: input({ token: Given, password: Password, code: Type.Optional(Code) }),
    output: S.Session,
  },
  'members.list': { output: list(S.Member) },
  'members.sessions': { output: list(S.MemberSession) },
  'members.end-session': { params: Id, output: Done },
  'members.invite': {
    body: input({ name: Name, role: S.Role, limits: Type.Optional(Limits), ...Belonging }),
    output: Invited,
  },
  'members.update': {
    params: Id,
    body: input({
      name: Type.Optional(Name),
      role: Type.Optional(S.Role),
      limits: Type.Optional(Limits),
      second_factor: Type.Optional(Type.Literal(false, { description: 'Removes it.' })),
      ...Belonging,
    }),
    output: S.Member,
  },
  'members.renew-invitation': {
    params: Id,
    output: Invited,
  },
  'members.remove': {
    params: Id,
    query: input({ keys: oneOf(['revoke', 'keep'], { default: 'revoke' }) }),
    output: Done,
  },
  'teams.list': { output: list(S.Team) },
  'teams.create': {
    body: input({ name: Name, budget: Type.Optional(Nullable(S.BudgetTerms)) }),
    output: S.Team,
  },
  'teams.update': {
    params: Id,
    body: input({ name: Type.Optional(Name), budget: Type.Optional(Nullable(S.BudgetTerms)) }),
    output: S.Team,
  },
  'teams.remove': { params: Id, output: Done },
  'teams.add-member': { params: input({ id: Given, member: Given }), output: S.Team },
  'teams.remove-member': { params: input({ id: Given, member: Given }), output: S.Team },
  'budgets.list': { output: list(S.OwnedBudget) },
  'budgets.put': {
    params: Id,
    body: input({ budget: Nullable(S.BudgetTerms) }),
    output: Type.Object({ budget: Nullable(S.Budget) }),
  },
  'budgets.reset': { params: Id, output: S.Budget },
  'keys.list': {
    query: input({
      search: Type.Optional(Type.String({ maxLength: 200, description: 'In label, id or owner.' })),
      status: Type.Optional(S.KeyStatus),
      owner: Type.Optional(Given),
      sort: oneOf(['created_at', 'label', 'expires_at', 'tokens_used', 'tokens_remaining'], { default: 'created_at' }),
      order: oneOf(['asc', 'desc'], { default: 'desc' }),
      limit: Limit,
      offset: Type.Integer({ minimum: 0, default: 0 }),
    }),
    output: Type.Object({ items: Type.Array(S.ListedKey), total: Count }),
  },
  'keys.create': {
    body: input({ label: Label, ...KeyMembers, owner: Type.Optional(Nullable(Given)) }),
    output: S.KeyWithSecret,
  },
  'keys.get': { params: Id, output: S.Key },
  'keys.update': {
    params: Id,
    body: input({ label: Type.Optional(Label), ...KeyMembers }),
    output: S.Key,
  },
  /** With a header `Idempotency-Key` it is made once, however often it is sent by the same caller. */
  'keys.top-up': {
    params: Id,
    body: input({
      tokens: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
      lasting: Type.Boolean({
        default: false,
        description: 'Of a quota that renews: for every period to come, and not for this one alone',
      }),
    }),
    output: S.Key,
  },
  'keys.reset': { params: Id, output: S.Key },
  'keys.rotate': {
    params: Id,
    body: input({ grace_seconds: Type.Integer({ minimum: 0, maximum: GRACE_DAYS * 86_400, default: 0 }) }),
    output: S.KeyWithSecret,
  },
  'keys.revoke': { params: Id, output: S.Key },
  'keys.usage': {
    params: Id,
    query: input({ ...Range, step: Type.Optional(S.Step), most: Most }),
    output: S.Usage,
  },
  'usage.get': {
    query: input({
      ...Range,
      step: Type.Optional(S.Step),
      by: oneOf(['none', 'model', 'key', 'member', 'team', 'account', 'provider', 'tag'], { default: 'none' }),
      most: Most,
      key: Type.Optional(Given),
      model: Type.Optional(Given),
      compare: Type.Boolean({ default: false, description: 'Tell the time before, which was as long, too.' }),
    }),
    output: S.Usage,
  },
  'usage.table': {
    query: input({
      ...Range,
      by: oneOf(['model', 'key', 'member', 'team', 'account', 'provider', 'tag', 'day'], { default: 'model' }),
      key: Type.Optional(Given),
      daily: Type.Boolean({ default: false, description: 'Each day of each group by itself, whole days' }),
    }),
    output: S.UsageTable,
  },
  'exchanges.list': {
    query: input({
      ...Range,
      key: Type.Optional(Given),
      model: Type.Optional(Given),
      outcome: Type.Optional(S.Outcome),
      limit: Limit,
      before: Type.Optional(Type.Integer({ minimum: 1 })),
    }),
    output: page(S.Exchange),
  },
  'exchanges.get': { params: Id, output: S.ExplainedExchange },
  'models.list': { output: S.Catalogue },
  'accounts.list': { output: list(S.Account) },
  'accounts.test': { params: input({ provider: Given, account: Given }), output: list(S.Finding) },
  'accounts.create': { body: NewAccount, output: S.Account },
  'accounts.try': { body: NewAccount, output: list(S.Finding) },
  'accounts.update': {
    params: input(AccountId),
    body: input({
      base_url: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000 })),
      credential: Type.Optional(Credential),
      weight: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    }),
    output: S.Account,
  },
  'accounts.remove': { params: input(AccountId), output: Done },
  'presets.list': { output: list(S.Preset) },
  'entries.list': { query: input({ section: Type.Optional(S.EntrySection) }), output: list(S.Entry) },
  'entries.put': {
    params: EntryId,
    body: input({ value: Type.Unknown({ description: 'As the configuration file would say it.' }) }),
    output: S.Entry,
  },
  'entries.remove': { params: EntryId, output: Done },
  'clients.list': {
    query: input({ key: Given, origin: Type.String({ pattern: '^https?://[^\\s"\'`\\\\]{1,300}$' }) }),
    output: list(S.ConnectedClient),
  },
  'playground.key': { output: S.PlaygroundKey },
  reload: { output: S.Reloaded },
  'alerts.list': { output: list(S.AlertReceiver) },
  'alerts.test': {
    body: input({ receiver: Type.Optional(Given) }),
    output: list(S.AlertTest),
  },
  'audit.list': {
    query: input({
      target: Type.Optional(Given),
      limit: Limit,
      before: Type.Optional(Type.Integer({ minimum: 1 })),
    }),
    output: page(S.AuditEntry),
  },
  'settings.get': { output: S.Settings },
  'settings.put': {
    body: input({
      khr_per_usd: Type.Optional(Nullable(Type.Number({ exclusiveMinimum: 0, maximum: 1e9 }))),
      retention_days: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 36_500 }))),
      limits: Type.Optional(Nullable(Type.Partial(S.RateLimits, Closed))),
      key_defaults: Type.Optional(
        Nullable(Type.Partial(Type.Object({ tokens_total: Count, expires_days: Days, models: Models }), Closed)),
      ),
      trust_proxy: Type.Optional(Nullable(S.TrustProxy)),
      second_factor_for_admins: Type.Optional(Nullable(Type.Boolean())),
      session_days: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: MOST_SESSION_DAYS }))),
    }),
    output: S.Settings,
  },
  'tokens.list': { output: list(S.AdminToken) },
  'tokens.create': {
    body: input({ label: Label, expires_at: Type.Optional(Nullable(Time)) }),
    output: S.AdminTokenWithSecret,
  },
  'tokens.revoke': { params: Id, output: S.AdminToken },
  live: { output: Type.Union([S.Exchange, S.Counters], { description: 'text/event-stream.' }) },
  state: { output: S.State },
} as const satisfies Record<RouteName, Contract>

/** One part of a route's input; `unknown`, which adds nothing, where it has none. */
export type Part<N extends RouteName, P extends 'params' | 'query' | 'body'> = (typeof CONTRACT)[N] extends {
  [name in P]: infer T extends TSchema
}
  ? Static<T>
  : unknown

/** What a handler gets, defaults filled in. */
export type Input<N extends RouteName> = Part<N, 'params'> & Part<N, 'query'> & Part<N, 'body'>

export type Output<N extends RouteName> = Static<(typeof CONTRACT)[N]['output']>
