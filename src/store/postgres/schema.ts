// The tables in PostgreSQL: those of SQLite by the same names, and what only many nodes on one database need. A test holds
// both equal. Integers are bigint, JSON is text.

import { sql } from 'drizzle-orm'
import {
  type AnyPgColumn,
  bigint,
  boolean,
  customType,
  index,
  pgSequence,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import type { PicturesMade } from '../../ir/pictures.ts'
import type { ServerToolCalls } from '../../ir/server-tools.ts'
import { UNITS } from '../../keys/budget.ts'
import { CAPTURES, PURPOSES } from '../../keys/key.ts'
import { RENEWALS } from '../../keys/renewal.ts'
import type { ServerTools } from '../../keys/server-tools.ts'
import type { AttemptNote } from '../../ledger/ledger.ts'
import type { MemberLimits } from '../../members/member.ts'
import { SECTIONS } from '../entries.ts'

const integer = (name: string) => bigint(name, { mode: 'number' })
/** A number that grows with every row. Rows of transactions side by side need not be seen in its order. */
const serial = (name: string) => integer(name).primaryKey().generatedByDefaultAsIdentity()
/** JSON by this program alone: jsonb is written twice encoded by the query builder, and would lose the order of members. */
const json = customType<{ data: unknown; driverData: string }>({
  dataType: () => 'text',
  toDriver: (value) => JSON.stringify(value),
  fromDriver: (written) => JSON.parse(written),
})

/** Its order is that of bytes, whatever language the database sorts in. */
export const byBytes = (text: AnyPgColumn) => sql`${text} COLLATE "C"`

/** Of A to Z alone, whatever the database's language is: as SQLite does. */
export const withoutCase = (name: AnyPgColumn | string) => sql<string>`lower(${name} COLLATE "C")`

export const keys = pgTable(
  'keys',
  {
    id: text('id').primaryKey(),
    label: text('label').notNull(),
    hash: text('hash').notNull(),
    lastFour: text('last_four'),
    previousHash: text('previous_hash'),
    previousUntil: integer('previous_until'),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    revokedAt: integer('revoked_at'),
    tokensTotal: integer('tokens_total').notNull(),
    tokensUsed: integer('tokens_used').notNull().default(0),
    renews: text('renews', { enum: RENEWALS }),
    renewedAt: integer('renewed_at'),
    tokensExtra: integer('tokens_extra').notNull().default(0),
    models: json('models').$type<string[]>().notNull(),
    rpm: integer('rpm'),
    tpm: integer('tpm'),
    concurrency: integer('concurrency'),
    serverTools: json('server_tools').$type<ServerTools>(),
    ips: json('ips').$type<readonly string[]>(),
    capture: text('capture', { enum: CAPTURES }),
    ownerId: text('owner_id'),
    purpose: text('purpose', { enum: PURPOSES }),
    lastUsedAt: integer('last_used_at'),
    version: integer('version').notNull(),
    /** What is set aside for exchanges in flight: the sum of its reservations. */
    tokensHeld: integer('tokens_held').notNull().default(0),
    /** Its requests in flight, where their number is limited. */
    inFlight: integer('in_flight').notNull().default(0),
    /** In `windows` by now; nodes of the version before name these. */
    windowSeconds: integer('window_seconds').array().notNull().default(sql`'{}'`),
    windowRequests: integer('window_requests').array().notNull().default(sql`'{}'`),
    windowTokens: integer('window_tokens').array().notNull().default(sql`'{}'`),
  },
  (t) => [uniqueIndex('keys_hash').on(t.hash), index('keys_version').on(t.version)],
)

/** The rows of exchanges in flight, of those that ended and of refusals: one series, and their order. */
export const exchangeRows = pgSequence('exchange_rows')
const inSeries = () => integer('row').primaryKey().default(sql`nextval('exchange_rows')`)

const begun = {
  row: inSeries(),
  id: text('id').notNull(),
  keyId: text('key_id').notNull(),
  model: text('model').notNull(),
  wire: text('wire').notNull(),
  stream: boolean('stream').notNull(),
  startedAt: integer('started_at').notNull(),
  inputEstimate: integer('input_estimate').notNull(),
  reserved: integer('reserved').notNull(),
  address: text('address'),
  tag: text('tag'),
}

const counts = {
  input: integer('input'),
  cacheRead: integer('cache_read'),
  cacheWrite: integer('cache_write'),
  output: integer('output'),
  reasoning: integer('reasoning'),
}

export const reservations = pgTable(
  'reservations',
  {
    ...begun,
    ...counts,
    reservedMicroUsd: integer('reserved_micro_usd').notNull().default(0),
    budgets: json('budgets').$type<string[]>(),
    pictures: json('pictures').$type<PicturesMade>(),
    serverTools: json('server_tools').$type<ServerToolCalls>(),
    /** What of it is still held: all, until it is known that less will do. */
    held: integer('held').notNull().default(0),
    heldMicroUsd: integer('held_micro_usd').notNull().default(0),
    /** The node that serves it. */
    node: text('node').notNull(),
  },
  (t) => [uniqueIndex('reservations_id').on(t.id), index('reservations_node').on(t.node)],
)

export const exchanges = pgTable(
  'exchanges',
  {
    ...begun,
    endedAt: integer('ended_at'),
    outcome: text('outcome', { enum: ['done', 'refused', 'failed', 'aborted'] }),
    status: integer('status'),
    errorCode: text('error_code'),
    provider: text('provider'),
    account: text('account'),
    upstreamModel: text('upstream_model'),
    providerWire: text('provider_wire'),
    attempts: integer('attempts').notNull().default(0),
    firstByteMs: integer('first_byte_ms'),
    totalMs: integer('total_ms'),
    ...counts,
    estimated: boolean('estimated').notNull().default(false),
    costMicroUsd: integer('cost_micro_usd').notNull().default(0),
    feesMicroUsd: integer('fees_micro_usd'),
    rawUsage: text('raw_usage'),
    trail: json('trail').$type<AttemptNote[]>(),
    dropped: json('dropped').$type<string[]>(),
    leftAfter: integer('left_after'),
    serverTools: json('server_tools').$type<ServerToolCalls>(),
    /** Whether the tables of sums have its figures. */
    summed: boolean('summed').notNull().default(false),
    /** Settled by what was known once its node was gone: that node's own word, should it still come, is put in its place. */
    alone: boolean('alone').notNull().default(false),
  },
  (t) => [
    uniqueIndex('exchanges_id').on(t.id),
    index('exchanges_model').on(t.model, t.row),
    index('exchanges_not_done').on(t.outcome, t.row).where(sql`outcome <> 'done'`),
    index('exchanges_key').on(t.keyId, t.row),
    index('exchanges_not_summed').on(t.row).where(sql`NOT summed`),
  ],
)

export const backgroundAnswers = pgTable(
  'background_answers',
  {
    id: text('id').notNull(),
    exchangeId: text('exchange_id').notNull(),
    keyId: text('key_id').notNull(),
    provider: text('provider').notNull(),
    account: text('account').notNull(),
    model: text('model').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.id, t.keyId] }),
    uniqueIndex('background_answers_exchange').on(t.exchangeId),
    index('background_answers_created').on(t.createdAt),
  ],
)

export const keptConversations = pgTable(
  'kept_conversations',
  {
    row: serial('row'),
    keyId: text('key_id'),
    usedAt: integer('used_at').notNull(),
    bytes: integer('bytes').notNull().default(0),
  },
  (t) => [
    index('kept_conversations_key').on(t.keyId, t.usedAt),
    index('kept_conversations_used').on(t.usedAt).where(sql`key_id IS NOT NULL`),
  ],
)

export const keptAnswers = pgTable(
  'kept_answers',
  {
    row: serial('row'),
    conversation: integer('conversation'),
    keyId: text('key_id'),
    id: text('id'),
    previous: text('previous'),
    place: text('place'),
    tokens: integer('tokens'),
    createdAt: integer('created_at').notNull(),
    bytes: integer('bytes').notNull().default(0),
  },
  (t) => [index('kept_answers_id').on(t.id, t.keyId), index('kept_answers_conversation').on(t.conversation)],
)

export const keptPieces = pgTable(
  'kept_pieces',
  {
    answer: integer('answer').notNull(),
    part: text('part', { enum: ['input', 'output', 'rest'] }).notNull(),
    at: integer('at').notNull(),
    text: text('text').notNull(),
  },
  (t) => [primaryKey({ columns: [t.answer, t.part, t.at] })],
)

export const keptItems = pgTable(
  'kept_items',
  { id: text('id').notNull(), keyId: text('key_id').notNull(), answer: integer('answer').notNull() },
  (t) => [primaryKey({ columns: [t.id, t.keyId] }), index('kept_items_answer').on(t.answer)],
)

export const keptTotals = pgTable('kept_totals', {
  keyId: text('key_id').primaryKey(),
  bytes: integer('bytes').notNull(),
})

const figures = {
  requests: integer('requests').notNull(),
  errors: integer('errors').notNull(),
  input: integer('input').notNull(),
  cacheRead: integer('cache_read').notNull(),
  cacheWrite: integer('cache_write').notNull(),
  output: integer('output').notNull(),
  reasoning: integer('reasoning').notNull(),
  costMicroUsd: integer('cost_micro_usd').notNull(),
  feesMicroUsd: integer('fees_micro_usd').notNull().default(0),
}

const withoutKey = { model: text('model').notNull(), ...figures }
const sums = { keyId: text('key_id').notNull(), ...withoutKey }

export const usageHours = pgTable('usage_hours', { hour: integer('hour').notNull(), ...sums }, (t) => [
  primaryKey({ columns: [t.hour, t.keyId, t.model] }),
])

export const usageDays = pgTable('usage_days', { day: integer('day').notNull(), ...sums }, (t) => [
  primaryKey({ columns: [t.day, t.keyId, t.model] }),
])

export const usageModels = pgTable('usage_models', { hour: integer('hour').notNull(), ...withoutKey }, (t) => [
  primaryKey({ columns: [t.hour, t.model] }),
])

export const usageAccounts = pgTable(
  'usage_accounts',
  {
    hour: integer('hour').notNull(),
    provider: text('provider').notNull(),
    account: text('account').notNull(),
    ...figures,
  },
  (t) => [primaryKey({ columns: [t.hour, t.provider, t.account] })],
)

export const usageTags = pgTable(
  'usage_tags',
  { day: integer('day').notNull(), keyId: text('key_id').notNull(), tag: text('tag').notNull(), ...figures },
  (t) => [primaryKey({ columns: [t.day, t.keyId, t.tag] })],
)

export const refusals = pgTable(
  'refusals',
  {
    row: inSeries(),
    id: text('id').notNull(),
    keyId: text('key_id').notNull(),
    at: integer('at').notNull(),
    wire: text('wire').notNull(),
    path: text('path').notNull(),
    model: text('model'),
    status: integer('status').notNull(),
    errorCode: text('error_code').notNull(),
    failed: text('failed').notNull(),
    told: text('told').notNull(),
    address: text('address'),
    tag: text('tag'),
  },
  (t) => [index('refusals_id').on(t.id), index('refusals_key').on(t.keyId, t.row)],
)

export const refusedHours = pgTable(
  'refused_hours',
  {
    keyId: text('key_id').notNull(),
    hour: integer('hour').notNull(),
    code: text('code').notNull(),
    count: integer('count').notNull(),
  },
  (t) => [primaryKey({ columns: [t.keyId, t.hour, t.code] }), index('refused_hours_hour').on(t.hour)],
)

export const usageTools = pgTable(
  'usage_tools',
  {
    day: integer('day').notNull(),
    keyId: text('key_id').notNull(),
    model: text('model').notNull(),
    tool: text('tool').notNull(),
    calls: integer('calls').notNull(),
  },
  (t) => [primaryKey({ columns: [t.day, t.keyId, t.model, t.tool] })],
)

export const audit = pgTable(
  'audit',
  {
    row: serial('row'),
    at: integer('at').notNull(),
    actorKind: text('actor_kind', { enum: ['cli', 'member', 'token', 'system'] }).notNull(),
    actorId: text('actor_id').notNull(),
    action: text('action').notNull(),
    target: text('target').notNull(),
    before: json('before'),
    after: json('after'),
  },
  (t) => [index('audit_target').on(t.target, t.row)],
)

export const budgets = pgTable(
  'budgets',
  {
    id: text('id').primaryKey(),
    unit: text('unit', { enum: UNITS }).notNull(),
    amount: integer('amount'),
    renews: text('renews', { enum: RENEWALS }),
    warnAt: json('warn_at').$type<number[]>().notNull(),
    usedTokens: integer('used_tokens').notNull().default(0),
    usedMicroUsd: integer('used_micro_usd').notNull().default(0),
    since: integer('since').notNull(),
    marked: integer('marked').notNull().default(0),
    version: integer('version').notNull(),
    /** What is set aside for exchanges in flight: the sums of the reservations that count against it. */
    heldTokens: integer('held_tokens').notNull().default(0),
    heldMicroUsd: integer('held_micro_usd').notNull().default(0),
  },
  (t) => [index('budgets_version').on(t.version)],
)

export const budgetMarks = pgTable(
  'budget_marks',
  {
    row: serial('row'),
    at: integer('at').notNull(),
    budget: text('budget').notNull(),
    since: integer('since').notNull(),
    mark: integer('mark').notNull(),
    unit: text('unit', { enum: UNITS }).notNull(),
    amount: integer('amount').notNull(),
    used: integer('used').notNull(),
  },
  (t) => [uniqueIndex('budget_marks_once').on(t.budget, t.since, t.mark)],
)

export const settings = pgTable('settings', {
  name: text('name').primaryKey(),
  value: json('value').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const prices = pgTable(
  'prices',
  {
    model: text('model').notNull(),
    digest: text('digest').notNull(),
    price: text('price').notNull(),
    since: integer('since').notNull(),
  },
  (t) => [primaryKey({ columns: [t.model, t.digest] })],
)

export const teams = pgTable(
  'teams',
  { id: text('id').primaryKey(), name: text('name').notNull(), createdAt: integer('created_at').notNull() },
  (t) => [uniqueIndex('teams_name').on(withoutCase(t.name))],
)

export const entries = pgTable(
  'entries',
  {
    section: text('section', { enum: SECTIONS }).notNull(),
    name: text('name').notNull(),
    value: json('value').notNull(),
    sealed: text('sealed'),
    sealedBy: text('sealed_by'),
    lastFour: text('last_four'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (t) => [primaryKey({ columns: [t.section, t.name] })],
)

export const members = pgTable(
  'members',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    role: text('role', { enum: ['admin', 'member'] }).notNull(),
    passwordHash: text('password_hash'),
    invitationHash: text('invitation_hash'),
    invitationExpiresAt: integer('invitation_expires_at'),
    invitedBy: text('invited_by'),
    invitationEndsFactor: boolean('invitation_ends_factor').notNull().default(false),
    createdAt: integer('created_at').notNull(),
    removedAt: integer('removed_at'),
    limits: json('limits').$type<MemberLimits>(),
    teamId: text('team_id'),
  },
  (t) => [
    uniqueIndex('members_name_in_use').on(withoutCase(t.name)).where(sql`removed_at IS NULL`),
    uniqueIndex('members_invitation').on(t.invitationHash),
  ],
)

export const sessions = pgTable(
  'sessions',
  {
    hash: text('hash').primaryKey(),
    memberId: text('member_id')
      .notNull()
      .references(() => members.id, { onDelete: 'cascade' }),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    seenAt: integer('seen_at').notNull(),
    provenAt: integer('proven_at'),
    address: text('address'),
    agent: text('agent'),
  },
  (t) => [index('sessions_member').on(t.memberId), index('sessions_expiry').on(t.expiresAt)],
)

export const secondFactors = pgTable('second_factors', {
  memberId: text('member_id')
    .primaryKey()
    .references(() => members.id, { onDelete: 'cascade' }),
  secret: text('secret').notNull(),
  createdAt: integer('created_at').notNull(),
  confirmedAt: integer('confirmed_at'),
  lastStep: integer('last_step'),
})

export const recoveryCodes = pgTable(
  'recovery_codes',
  {
    memberId: text('member_id')
      .notNull()
      .references(() => members.id, { onDelete: 'cascade' }),
    hash: text('hash').notNull(),
  },
  (t) => [primaryKey({ columns: [t.memberId, t.hash] })],
)

export const adminTokens = pgTable(
  'admin_tokens',
  {
    id: text('id').primaryKey(),
    label: text('label').notNull(),
    hash: text('hash').notNull(),
    createdBy: text('created_by').references(() => members.id),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at'),
    revokedAt: integer('revoked_at'),
    usedAt: integer('used_at'),
  },
  (t) => [uniqueIndex('admin_tokens_hash').on(t.hash)],
)

export const alertsTold = pgTable('alerts_told', {
  cause: text('cause').primaryKey(),
  period: text('period').notNull(),
  at: integer('at').notNull(),
})

export const alertsWaiting = pgTable(
  'alerts_waiting',
  {
    id: text('id').notNull(),
    receiver: text('receiver').notNull(),
    at: integer('at').notNull(),
    alert: json('alert').notNull(),
  },
  (t) => [primaryKey({ columns: [t.id, t.receiver] })],
)

/** Processes that serve, each until its lease ends unless it renews it. An id is of one start of one process. */
export const nodes = pgTable('nodes', {
  id: text('id').primaryKey(),
  until: integer('until').notNull(),
  renewedAt: integer('renewed_at').notNull().default(0),
  /** Since when it has been renewed in time: so long the database has been there for all. */
  steadySince: integer('steady_since').notNull().default(0),
})

/**
 * One row, not logged: a crash takes it along with what was not on the disk yet, and a server that takes over from another never
 * had it. Another name says that the last moments may be lost.
 */
export const life = pgTable('life', {
  one: boolean('one').primaryKey().default(true),
  name: text('name').notNull(),
})

/** Requests that are in, of keys that have limits. `second`: in which it was counted, of the keys' windows. */
export const entered = pgTable(
  'entered',
  {
    id: text('id').primaryKey(),
    keyId: text('key_id').notNull(),
    node: text('node').notNull(),
    second: integer('second').notNull(),
  },
  (t) => [index('entered_node').on(t.node)],
)

/** What keys that have limits used, by the second. */
export const windows = pgTable(
  'windows',
  {
    keyId: text('key_id').notNull(),
    second: integer('second').notNull(),
    requests: integer('requests').notNull(),
    tokens: integer('tokens').notNull(),
  },
  (t) => [primaryKey({ columns: [t.keyId, t.second] })],
)

/** What one node does for all of them, and who does it now. */
export const jobs = pgTable('jobs', {
  name: text('name').primaryKey(),
  node: text('node').notNull(),
  until: integer('until').notNull(),
})

/** Attempts to sign in, by what they are counted for. */
export const attempts = pgTable(
  'attempts',
  { row: serial('row'), name: text('name').notNull(), at: integer('at').notNull() },
  (t) => [index('attempts_name').on(t.name, t.at), index('attempts_at').on(t.at)],
)

/** Links that make the first admin, while there is none. */
export const setupLinks = pgTable('setup_links', { hash: text('hash').primaryKey(), at: integer('at').notNull() })

/** How often something was changed; see versions.ts. */
export const versions = pgTable('versions', { what: text('what').primaryKey(), n: integer('n').notNull() })
