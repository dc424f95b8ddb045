// The tables. Times are milliseconds since the epoch, money is whole micro-USD, JSON is text.

import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { PicturesMade } from '../../ir/pictures.ts'
import type { ServerToolCalls } from '../../ir/server-tools.ts'
import { UNITS } from '../../keys/budget.ts'
import { CAPTURES, PURPOSES } from '../../keys/key.ts'
import { RENEWALS } from '../../keys/renewal.ts'
import type { ServerTools } from '../../keys/server-tools.ts'
import type { AttemptNote } from '../../ledger/ledger.ts'
import type { MemberLimits } from '../../members/member.ts'
import { SECTIONS } from '../entries.ts'

/** `version` grows with every change of any key but its counter: a running server reads what is newer than it knows. */
export const keys = sqliteTable(
  'keys',
  {
    id: text('id').primaryKey(),
    label: text('label').notNull(),
    /** SHA-256 of the secret, hex. */
    hash: text('hash').notNull(),
    /** The secret's last characters, to tell keys apart by; null: it was made before they were kept. */
    lastFour: text('last_four'),
    /** The secret before the last rotation, valid until `previousUntil`. */
    previousHash: text('previous_hash'),
    previousUntil: integer('previous_until'),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    revokedAt: integer('revoked_at'),
    tokensTotal: integer('tokens_total').notNull(),
    tokensUsed: integer('tokens_used').notNull().default(0),
    renews: text('renews', { enum: RENEWALS }),
    renewedAt: integer('renewed_at'),
    /** The part of `tokensTotal` that ends with the period of a quota that renews. */
    tokensExtra: integer('tokens_extra').notNull().default(0),
    models: text('models', { mode: 'json' }).$type<string[]>().notNull(),
    rpm: integer('rpm'),
    tpm: integer('tpm'),
    concurrency: integer('concurrency'),
    /** Which tools that run at the vendor it may use; null: all. */
    serverTools: text('server_tools', { mode: 'json' }).$type<ServerTools>(),
    /** Networks it may be used from; null: from anywhere. */
    ips: text('ips', { mode: 'json' }).$type<readonly string[]>(),
    /** What is exported of its exchanges beside their figures; null: nothing. */
    capture: text('capture', { enum: CAPTURES }),
    /** The member whose key it is; null: the gateway's own. */
    ownerId: text('owner_id'),
    /** What it was made for, where the gateway made it itself; null: a key like any other. */
    purpose: text('purpose', { enum: PURPOSES }),
    /** When its last settled exchange began; null: it has none. Moves with the counter. */
    lastUsedAt: integer('last_used_at'),
    version: integer('version').notNull(),
  },
  (t) => [uniqueIndex('keys_hash').on(t.hash), index('keys_version').on(t.version)],
)

/** The columns an exchange has from its reservation on. No foreign key to `keys`: they are never removed, and it would cost a look-up. */
const begun = {
  row: integer('row').primaryKey(),
  id: text('id').notNull(),
  keyId: text('key_id').notNull(),
  model: text('model').notNull(),
  wire: text('wire').notNull(),
  stream: integer('stream', { mode: 'boolean' }).notNull(),
  startedAt: integer('started_at').notNull(),
  inputEstimate: integer('input_estimate').notNull(),
  reserved: integer('reserved').notNull(),
  /** Where the client asked from, as far as that is known. */
  address: text('address'),
  /** What its cost is to be told apart by: the client's own word. */
  tag: text('tag'),
}

const counts = {
  input: integer('input'),
  cacheRead: integer('cache_read'),
  cacheWrite: integer('cache_write'),
  output: integer('output'),
  reasoning: integer('reasoning'),
}

/**
 * Exchanges in flight, the counts their progress so far: a table of a few pages, written before each provider call. At
 * its settlement an exchange moves to `exchanges` under the same `row`.
 */
export const reservations = sqliteTable('reservations', {
  ...begun,
  ...counts,
  /** What was set aside of the budgets in money. */
  reservedMicroUsd: integer('reserved_micro_usd').notNull().default(0),
  /** The budgets it counts against, by their ids; null: none. */
  budgets: text('budgets', { mode: 'json' }).$type<string[]>(),
  /** What it is billed by the piece, should nobody be left to settle it: the pictures it asks for, the calls so far; null: none. */
  pictures: text('pictures', { mode: 'json' }).$type<PicturesMade>(),
  serverTools: text('server_tools', { mode: 'json' }).$type<ServerToolCalls>(),
})

/**
 * Exchanges that ended, each written once. `row` follows the order of arrival, and so does `startedAt`: times are found
 * by halving the rows, without an index.
 */
export const exchanges = sqliteTable(
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
    estimated: integer('estimated', { mode: 'boolean' }).notNull().default(false),
    costMicroUsd: integer('cost_micro_usd').notNull().default(0),
    /** The part of the cost that is of calls, images and the like, and not of tokens; null: none. */
    feesMicroUsd: integer('fees_micro_usd'),
    rawUsage: text('raw_usage'),
    /** The attempts, where there were several or one failed: a single one that answered is described by other columns. */
    trail: text('trail', { mode: 'json' }).$type<AttemptNote[]>(),
    /** Paths of the request that the provider's wire could not say. */
    dropped: text('dropped', { mode: 'json' }).$type<string[]>(),
    /** What the key had left once this was settled. */
    leftAfter: integer('left_after'),
    /** Calls of tools that ran at the vendor, by tool; null: none were told. */
    serverTools: text('server_tools', { mode: 'json' }).$type<ServerToolCalls>(),
  },
  (t) => [
    index('exchanges_id').on(t.id),
    // Operators look for failures, which are rare: successful exchanges do not pay for this index.
    index('exchanges_not_done').on(t.outcome).where(sql`outcome <> 'done'`),
  ],
)

/** Answers that their providers make in the background, by the provider's own id; see ledger/background.ts. */
export const backgroundAnswers = sqliteTable(
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
    // Two providers may use the same id.
    primaryKey({ columns: [t.id, t.keyId] }),
    uniqueIndex('background_answers_exchange').on(t.exchangeId),
    index('background_answers_created').on(t.createdAt),
  ],
)

/**
 * Conversations whose answers clients may refer to; see ledger/answers.ts. `keyId` null: forgotten, and removed piece by
 * piece. `bytes`: of all its answers.
 */
export const keptConversations = sqliteTable(
  'kept_conversations',
  {
    row: integer('row').primaryKey(),
    keyId: text('key_id'),
    usedAt: integer('used_at').notNull(),
    bytes: integer('bytes').notNull().default(0),
  },
  (t) => [
    index('kept_conversations_key').on(t.keyId, t.usedAt),
    index('kept_conversations_used').on(t.usedAt).where(sql`key_id IS NOT NULL`),
  ],
)

/** Their answers. `conversation` null: not complete, its pieces are being written. `place`: the account that keeps it itself, `tokens`: what it and its prompt came to then. */
export const keptAnswers = sqliteTable(
  'kept_answers',
  {
    row: integer('row').primaryKey(),
    conversation: integer('conversation'),
    keyId: text('key_id'),
    id: text('id'),
    /** The id of the answer that its request continued. */
    previous: text('previous'),
    place: text('place'),
    tokens: integer('tokens'),
    createdAt: integer('created_at').notNull(),
    bytes: integer('bytes').notNull().default(0),
  },
  (t) => [index('kept_answers_id').on(t.id, t.keyId), index('kept_answers_conversation').on(t.conversation)],
)

/** What was asked and answered, as JSON text that is cut anywhere. */
export const keptPieces = sqliteTable(
  'kept_pieces',
  {
    answer: integer('answer').notNull(),
    part: text('part', { enum: ['input', 'output', 'rest'] }).notNull(),
    at: integer('at').notNull(),
    text: text('text').notNull(),
  },
  (t) => [primaryKey({ columns: [t.answer, t.part, t.at] })],
)

/** The items of answers by their ids. */
export const keptItems = sqliteTable(
  'kept_items',
  { id: text('id').notNull(), keyId: text('key_id').notNull(), answer: integer('answer').notNull() },
  (t) => [primaryKey({ columns: [t.id, t.keyId] }), index('kept_items_answer').on(t.answer)],
)

/** The bytes that are kept for a key; for all of them under ''. */
export const keptTotals = sqliteTable('kept_totals', {
  keyId: text('key_id').primaryKey(),
  bytes: integer('bytes').notNull(),
})

/** Rows of `exchanges` in a block: one is scanned in less than a millisecond. */
export const BLOCK_ROWS = 4_096

/**
 * Which keys have exchanges in a block of rows, `block` being `row` / BLOCK_ROWS. A key's exchanges are found block by block:
 * an index of every row by key would cost a page of the log for each exchange. `keyId` '': the block may have any key's.
 */
export const exchangeBlocks = sqliteTable(
  'exchange_blocks',
  { block: integer('block').notNull(), keyId: text('key_id').notNull() },
  (t) => [primaryKey({ columns: [t.block, t.keyId] })],
)

/** The same where models are listed: there are few, and whoever asks for one of them reads whole blocks. */
export const MODEL_BLOCK_ROWS = 512

/** Which models have exchanges in a block of MODEL_BLOCK_ROWS. Added to in the order of blocks, nearly, and found by model. */
export const exchangeModels = sqliteTable(
  'exchange_models',
  { model: text('model').notNull(), block: integer('block').notNull() },
  (t) => [primaryKey({ columns: [t.model, t.block] })],
)

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

/** Sums of settled exchanges by the hour they began in (`hour`: its first millisecond). */
export const usageHours = sqliteTable('usage_hours', { hour: integer('hour').notNull(), ...sums }, (t) => [
  primaryKey({ columns: [t.hour, t.keyId, t.model] }),
])

/** The same by UTC day, so that months can be summed without reading their hours; kept when exchanges are pruned. */
export const usageDays = sqliteTable('usage_days', { day: integer('day').notNull(), ...sums }, (t) => [
  primaryKey({ columns: [t.day, t.keyId, t.model] }),
])

/** The same by hour and model over all keys, for figures of the whole gateway. Never pruned. */
export const usageModels = sqliteTable('usage_models', { hour: integer('hour').notNull(), ...withoutKey }, (t) => [
  primaryKey({ columns: [t.hour, t.model] }),
])

/** The same by the account that was tried last, '' where none was. Never pruned. */
export const usageAccounts = sqliteTable(
  'usage_accounts',
  {
    hour: integer('hour').notNull(),
    provider: text('provider').notNull(),
    account: text('account').notNull(),
    ...figures,
  },
  (t) => [primaryKey({ columns: [t.hour, t.provider, t.account] })],
)

/** The same by UTC day, key and tag, of exchanges that have one. Never pruned. */
export const usageTags = sqliteTable(
  'usage_tags',
  { day: integer('day').notNull(), keyId: text('key_id').notNull(), tag: text('tag').notNull(), ...figures },
  (t) => [primaryKey({ columns: [t.day, t.keyId, t.tag] })],
)

/**
 * Requests of known keys that were refused before they became exchanges, the latest of each key. `row` is of the same series as
 * that of exchanges, and their order.
 */
export const refusals = sqliteTable(
  'refusals',
  {
    row: integer('row').primaryKey(),
    id: text('id').notNull(),
    keyId: text('key_id').notNull(),
    at: integer('at').notNull(),
    wire: text('wire').notNull(),
    path: text('path').notNull(),
    /** Null: it was refused before one was known. */
    model: text('model'),
    status: integer('status').notNull(),
    errorCode: text('error_code').notNull(),
    /** The check that it did not pass. */
    failed: text('failed').notNull(),
    /** The message the client got. */
    told: text('told').notNull(),
    address: text('address'),
    tag: text('tag'),
  },
  (t) => [index('refusals_id').on(t.id), index('refusals_key').on(t.keyId)],
)

/** How many they were, by hour and code: also of those that are not kept. `keyId` '': of all keys together; never pruned. */
export const refusedHours = sqliteTable(
  'refused_hours',
  {
    keyId: text('key_id').notNull(),
    hour: integer('hour').notNull(),
    code: text('code').notNull(),
    count: integer('count').notNull(),
  },
  (t) => [primaryKey({ columns: [t.keyId, t.hour, t.code] }), index('refused_hours_hour').on(t.hour)],
)

/** Calls of tools that ran at the vendor, by UTC day (`day`: its first millisecond). Never pruned. */
export const usageTools = sqliteTable(
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

export const audit = sqliteTable(
  'audit',
  {
    row: integer('row').primaryKey(),
    at: integer('at').notNull(),
    actorKind: text('actor_kind', { enum: ['cli', 'member', 'token', 'system'] }).notNull(),
    actorId: text('actor_id').notNull(),
    action: text('action').notNull(),
    target: text('target').notNull(),
    before: text('before', { mode: 'json' }),
    after: text('after', { mode: 'json' }),
  },
  (t) => [index('audit_target').on(t.target)],
)

/**
 * What a key, a member, a team or the whole gateway may use; `id` is `key:key_…`, `member:mem_…`, `team:team_…` or `gateway`.
 * `amount` null: there is none any more. Both counters go on whatever the unit is. `version` as that of keys.
 */
export const budgets = sqliteTable(
  'budgets',
  {
    id: text('id').primaryKey(),
    unit: text('unit', { enum: UNITS }).notNull(),
    /** Whole micro-USD, or tokens. */
    amount: integer('amount'),
    renews: text('renews', { enum: RENEWALS }),
    /** Percent of the amount. */
    warnAt: text('warn_at', { mode: 'json' }).$type<number[]>().notNull(),
    usedTokens: integer('used_tokens').notNull().default(0),
    usedMicroUsd: integer('used_micro_usd').notNull().default(0),
    /** From when it counts: when it was set, or renewed last. */
    since: integer('since').notNull(),
    /** The highest mark passed since then; 0: none. */
    marked: integer('marked').notNull().default(0),
    version: integer('version').notNull(),
  },
  (t) => [index('budgets_version').on(t.version)],
)

/** Marks that budgets have passed, each once in a period; written with the counter that passed it. */
export const budgetMarks = sqliteTable(
  'budget_marks',
  {
    row: integer('row').primaryKey(),
    at: integer('at').notNull(),
    budget: text('budget').notNull(),
    /** The period: when it began to count. */
    since: integer('since').notNull(),
    /** Percent of the amount. */
    mark: integer('mark').notNull(),
    unit: text('unit', { enum: UNITS }).notNull(),
    amount: integer('amount').notNull(),
    used: integer('used').notNull(),
  },
  (t) => [uniqueIndex('budget_marks_once').on(t.budget, t.since, t.mark)],
)

export const settings = sqliteTable('settings', {
  name: text('name').primaryKey(),
  value: text('value', { mode: 'json' }).notNull(),
  updatedAt: integer('updated_at').notNull(),
})

/** The prices that models have had here, each since it was first in force. `digest`: of the price, which may be long for a key. */
export const prices = sqliteTable(
  'prices',
  {
    model: text('model').notNull(),
    digest: text('digest').notNull(),
    price: text('price').notNull(),
    since: integer('since').notNull(),
  },
  (t) => [primaryKey({ columns: [t.model, t.digest] })],
)

/** Named groups of members. */
export const teams = sqliteTable(
  'teams',
  { id: text('id').primaryKey(), name: text('name').notNull(), createdAt: integer('created_at').notNull() },
  (t) => [uniqueIndex('teams_name').on(sql`lower(${t.name})`)],
)

/**
 * Members of the configuration that were set while the gateway ran, by the section they belong to. `sealed`: an account's
 * credential, encrypted by the key that `sealedBy` tells; `lastFour`: its last characters, null where it is too short to show
 * any. `version` is the row of the audit that told its last change: of two states, no two are alike.
 */
export const entries = sqliteTable(
  'entries',
  {
    section: text('section', { enum: SECTIONS }).notNull(),
    name: text('name').notNull(),
    value: text('value', { mode: 'json' }).notNull(),
    sealed: text('sealed'),
    sealedBy: text('sealed_by'),
    lastFour: text('last_four'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (t) => [primaryKey({ columns: [t.section, t.name] })],
)

/** People of the dashboard, by name without regard to case. An invited member has an invitation and no password yet. */
export const members = sqliteTable(
  'members',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    role: text('role', { enum: ['admin', 'member'] }).notNull(),
    passwordHash: text('password_hash'),
    invitationHash: text('invitation_hash'),
    invitationExpiresAt: integer('invitation_expires_at'),
    /** The member who made the link, with whose role it ends; null: the command line. */
    invitedBy: text('invited_by'),
    /** Using the link removes the member's second factor. */
    invitationEndsFactor: integer('invitation_ends_factor', { mode: 'boolean' }).notNull().default(false),
    createdAt: integer('created_at').notNull(),
    removedAt: integer('removed_at'),
    /** What the member's own keys may be made of; null: no limits. */
    limits: text('limits', { mode: 'json' }).$type<MemberLimits>(),
    /** The one team they are in; null: none. */
    teamId: text('team_id'),
  },
  (t) => [
    // The name of a removed member is free again.
    uniqueIndex('members_name_in_use').on(sql`lower(${t.name})`).where(sql`removed_at IS NULL`),
    uniqueIndex('members_invitation').on(t.invitationHash),
  ],
)

/** Signed-in browsers; `hash` is the SHA-256 of the cookie's secret. */
export const sessions = sqliteTable(
  'sessions',
  {
    hash: text('hash').primaryKey(),
    memberId: text('member_id')
      .notNull()
      .references(() => members.id, { onDelete: 'cascade' }),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    seenAt: integer('seen_at').notNull(),
    /** When its owner last proved who they are; null: at its beginning. */
    provenAt: integer('proven_at'),
    /** Where it was opened, as far as that is known: an address, and what the browser calls itself. */
    address: text('address'),
    agent: text('agent'),
  },
  (t) => [index('sessions_member').on(t.memberId), index('sessions_expiry').on(t.expiresAt)],
)

/** What members prove by an authenticator. Not confirmed, it is only offered. The secret is needed to check its codes. */
export const secondFactors = sqliteTable('second_factors', {
  memberId: text('member_id')
    .primaryKey()
    .references(() => members.id, { onDelete: 'cascade' }),
  secret: text('secret').notNull(),
  createdAt: integer('created_at').notNull(),
  confirmedAt: integer('confirmed_at'),
  /** The time step of the last code that was taken: that one and earlier ones are not taken again. */
  lastStep: integer('last_step'),
})

/** Codes that stand in for a second factor, once each: a row goes with its use. `hash` is the SHA-256 of the code. */
export const recoveryCodes = sqliteTable(
  'recovery_codes',
  {
    memberId: text('member_id')
      .notNull()
      .references(() => members.id, { onDelete: 'cascade' }),
    hash: text('hash').notNull(),
  },
  (t) => [primaryKey({ columns: [t.memberId, t.hash] })],
)

/** Tokens for the admin API; `hash` is the SHA-256 of the token. */
export const adminTokens = sqliteTable(
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

/** What alerts have told and need not tell again: `period` says of which stretch of time, where a cause has some. */
export const alertsTold = sqliteTable('alerts_told', {
  cause: text('cause').primaryKey(),
  period: text('period').notNull(),
  at: integer('at').notNull(),
})

/** Alerts on their way, a row for each receiver; `alert` is what it is sent, `at` when it was raised. */
export const alertsWaiting = sqliteTable(
  'alerts_waiting',
  {
    id: text('id').notNull(),
    receiver: text('receiver').notNull(),
    at: integer('at').notNull(),
    alert: text('alert', { mode: 'json' }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.id, t.receiver] })],
)
