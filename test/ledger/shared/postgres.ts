// Nodes on one database of PostgreSQL, for tests: each with books of its own, over a line that fails when the test says.

import { afterEach } from 'bun:test'
import { totalTokens } from '../../../src/ir/usage.ts'
import type { Budget } from '../../../src/keys/budget.ts'
import type { Key, NewKey, RateLimits } from '../../../src/keys/key.ts'
import type { OpenExchange } from '../../../src/ledger/journal.ts'
import type { Resumed } from '../../../src/ledger/ledger.ts'
import { createNodeLedger, type NodeLedger } from '../../../src/ledger/node.ts'
import type { Timers } from '../../../src/ledger/writer.ts'
import { UTC } from '../../../src/lib/calendar.ts'
import { type Books, createBooks } from '../../../src/store/postgres/books.ts'
import { type Client, createClient } from '../../../src/store/postgres/client.ts'
import type { Timing } from '../../../src/store/postgres/ledger/options.ts'
import { migrate } from '../../../src/store/postgres/migrate.ts'
import type { LimitsElsewhere } from '../../../src/store/redis/limits.ts'
import { newKey } from '../../store/support.ts'
import { type OwnServer, type TestServer, testPostgres } from '../../support/postgres.ts'
import { PRICE } from '../support.ts'
import { createLine, type Line } from './faults.ts'

export const MIGRATED = {
  name: 'ledger',
  async fill(url: string): Promise<void> {
    const client = createClient(url)
    await migrate(client, 'test')
    await client.close()
  },
}

const NO_LIMITS: RateLimits = { rpm: 0, tpm: 0, concurrency: 0 }
const YEAR = 365 * 86_400_000

/** Keys and budgets as a node has them in memory: read when it is told to. */
export const createCache = (client: Client) => {
  const keys = new Map<string, Key & { version: number }>()
  const budgets = new Map<string, Budget>()
  return {
    async read(): Promise<void> {
      for (const row of await client.query<KeyRow>('SELECT * FROM keys')) keys.set(row.id, keyOf(row))
      const rows = await client.query<BudgetRow>('SELECT * FROM budgets WHERE amount IS NOT NULL')
      budgets.clear()
      for (const row of rows)
        budgets.set(row.id, {
          ...{ id: row.id, unit: row.unit, amount: row.amount, renews: undefined, warnAt: JSON.parse(row.warn_at) },
          ...{ used: { tokens: row.used_tokens, microUsd: row.used_micro_usd }, since: row.since },
        })
    },
    keys: { get: (id: string) => keys.get(id), versionOf: (id: string) => keys.get(id)?.version ?? 0 },
    budgets: {
      get: (id: string) => budgets.get(id),
      nameOf: async () => undefined,
      of: ({ id, ownerId }: Pick<Key, 'id' | 'ownerId'>): Budget[] =>
        [`key:${id}`, `member:${ownerId}`, `team:${ownerId}`, 'gateway'].flatMap((name) => budgets.get(name) ?? []),
    },
  }
}

type KeyRow = {
  id: string
  created_at: number
  expires_at: number
  revoked_at: number | null
  tokens_total: number
  tokens_used: number
  rpm: number | null
  tpm: number | null
  concurrency: number | null
  owner_id: string | null
  version: number
}
type BudgetRow = {
  id: string
  unit: 'usd' | 'tokens'
  amount: number
  warn_at: string
  used_tokens: number
  used_micro_usd: number
  since: number
}

const keyOf = (row: KeyRow): Key & { version: number } => ({
  ...{ id: row.id, label: row.id, createdAt: row.created_at, expiresAt: row.expires_at, models: ['*'] },
  revokedAt: row.revoked_at ?? undefined,
  ...{
    tokensTotal: row.tokens_total,
    tokensUsed: row.tokens_used,
    rpm: row.rpm ?? undefined,
    tpm: row.tpm ?? undefined,
  },
  concurrency: row.concurrency ?? undefined,
  ownerId: row.owner_id ?? undefined,
  version: row.version,
})

type Cache = ReturnType<typeof createCache>

export const addKey = async (client: Client, given: Partial<NewKey> = {}): Promise<string> => {
  const { label, tokensTotal, rpm, tpm, concurrency, ownerId } = newKey(given)
  const id = `key_${crypto.randomUUID().slice(0, 13)}`
  await client.query(
    `INSERT INTO keys (id, label, hash, created_at, expires_at, tokens_total, models, rpm, tpm, concurrency, owner_id, version)
     VALUES ($1, $2, $1, 0, $3, $4, '["*"]', $5, $6, $7, $8, 1)`,
    [id, label, Date.now() + YEAR, tokensTotal, rpm, tpm, concurrency, ownerId],
  )
  return id
}

type NewBudget = { id: string; unit: 'usd' | 'tokens'; amount: number; warnAt?: number[] }

export const addBudget = (client: Client, { id, unit, amount, warnAt = [80, 100] }: NewBudget) =>
  client.query(`INSERT INTO budgets (id, unit, amount, warn_at, since, version) VALUES ($1, $2, $3, $4, 1, 1)`, [
    id,
    unit,
    amount,
    JSON.stringify(warnAt),
  ])

export type PgNode = NodeLedger & {
  name: string
  books: Books
  line: Line
  cache: Cache
  elsewhere: LimitsElsewhere | undefined
  settled: OpenExchange[]
  refused: string[]
  failures: unknown[]
  /** As by kill -9. */
  kill(): Promise<void>
}

export type NodeOptions = {
  name?: string
  /** Another way to the database than by itself. */
  url?: string
  /** What stands before its client. */
  over?: (client: Client) => Client
  timing?: Partial<Timing>
  defaults?: RateLimits
  timers?: Timers
  clock?: () => number
  takeOver?: (left: Resumed) => boolean
  /** The limits are counted elsewhere, in front of its books. */
  limits?: (node: { name: string; books: Books; keys: Cache['keys'] }) => LimitsElsewhere
  /** Its lease begins, and it looks after others by itself. */
  isStarted?: boolean
}

let made = 0

export const openLedger = async (server?: TestServer | OwnServer) => {
  const database = await (server ?? (await testPostgres())).database(MIGRATED)
  const admin = createClient(database.url, { max: 2 })
  const nodes: PgNode[] = []
  return {
    url: database.url,
    admin,
    nodes,
    async node(options: NodeOptions = {}): Promise<PgNode> {
      const name = options.name ?? `node-${made++}`
      const direct = createClient(options.url ?? database.url, { max: 6 })
      const client = options.over?.(direct) ?? direct
      const cache = createCache(client)
      await cache.read()
      const { defaults = NO_LIMITS, clock = Date.now } = options
      let limits: LimitsElsewhere | undefined
      const facts = { settled: [] as OpenExchange[], refused: [] as string[], failures: [] as unknown[] }
      const books = createBooks({
        ...{ client, node: name, keys: cache.keys, budgets: cache.budgets, refresh: cache.read, clock, defaults },
        ...{ prices: () => () => PRICE, calendar: UTC, timing: options.timing ?? {} },
        ...(options.takeOver === undefined ? {} : { takeOver: options.takeOver }),
        ...(options.limits === undefined ? {} : { countsTokens: () => limits?.isAway() ?? true }),
        onSettled({ open, settlement }) {
          facts.settled.push(open)
          limits?.settled(open.keyId, totalTokens(settlement.usage))
        },
        onRefused: (id) => facts.refused.push(id),
        onFailure: (cause) => facts.failures.push(cause),
      })
      if (options.isStarted !== false) await books.start()
      limits = options.limits?.({ name, books, keys: cache.keys })
      const line = createLine()
      line.to = limits ?? books
      const ledger = createNodeLedger({
        ...{ node: line, keys: cache.keys, refresh: cache.read, clock, defaults, groups: 2 },
        prices: () => () => PRICE,
        entersLate: options.limits === undefined,
        timers: options.timers ?? { soon: setImmediate, later: (run, ms) => setTimeout(run, ms).unref() },
      })
      const node: PgNode = {
        ...ledger,
        ...{ name, books, line, cache, elsewhere: limits, ...facts },
        async kill() {
          line.end()
          await client.close()
          // What it had under way fails: no word of it reaches anyone any more.
          await books.stop()
        },
      }
      nodes.push(node)
      return node
    },
    async close(): Promise<void> {
      for (const node of nodes) await node.kill()
      await admin.close()
      await database.drop()
    },
  }
}

export type PgLedger = Awaited<ReturnType<typeof openLedger>>

/** Opens ledgers for a file's tests, each closed after its test. */
export const ledgersOfTests = (): (() => Promise<PgLedger>) => {
  const opened: PgLedger[] = []
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close()
  })
  return async () => {
    const ledger = await openLedger()
    opened.push(ledger)
    return ledger
  }
}

/** Nothing happens by itself. */
export const STILL = { timing: { leaseMs: 600_000, beatMs: 600_000, sweepMs: 600_000, netMs: 600_000 } }

/** As the node has it in memory. */
export const keyAt = ({ cache }: Pick<PgNode, 'cache'>, id: string): Key => {
  const key = cache.keys.get(id)
  if (key === undefined) throw new Error('no such key')
  return key
}

/** A node's lease ended, while the others were there all the time. */
export const endLease = ({ admin }: PgLedger, { name }: Pick<PgNode, 'name'>) =>
  admin.query('UPDATE nodes SET steady_since = 0, until = CASE id WHEN $1 THEN 0 ELSE until END', [name])

/** What must hold at any time, over everything the database has. */
export const invariantsBroken = async (client: Client): Promise<string[]> => {
  const rows = await client.query<{ broken: string }>(`
    SELECT 'over ' || id || ': ' || tokens_used || ' + ' || tokens_held || ' of ' || tokens_total AS broken FROM keys
      WHERE tokens_used + tokens_held > tokens_total + 1
    UNION ALL SELECT 'held ' || k.id || ': ' || k.tokens_held || ' is not ' || coalesce(sum(r.held), 0)
      FROM keys k LEFT JOIN reservations r ON r.key_id = k.id GROUP BY k.id HAVING k.tokens_held <> coalesce(sum(r.held), 0)
    UNION ALL SELECT 'used ' || k.id || ': ' || k.tokens_used || ' is not ' || coalesce(sum(coalesce(e.input, 0)
        + coalesce(e.cache_read, 0) + coalesce(e.cache_write, 0) + coalesce(e.output, 0)), 0)
      FROM keys k LEFT JOIN exchanges e ON e.key_id = k.id GROUP BY k.id
      HAVING k.tokens_used <> coalesce(sum(coalesce(e.input, 0) + coalesce(e.cache_read, 0) + coalesce(e.cache_write, 0)
        + coalesce(e.output, 0)), 0)
    UNION ALL SELECT 'in flight ' || k.id || ': ' || k.in_flight || ' is not ' || count(e.id)
      FROM keys k LEFT JOIN entered e ON e.key_id = k.id GROUP BY k.id HAVING k.in_flight <> count(e.id)
    UNION ALL SELECT 'budget ' || b.id || ' holds ' || b.held_tokens || '/' || b.held_micro_usd || ' and not '
        || coalesce(sum(r.held), 0) || '/' || coalesce(sum(r.held_micro_usd), 0)
      FROM budgets b LEFT JOIN reservations r ON r.budgets IS NOT NULL AND r.budgets::jsonb ? b.id GROUP BY b.id
      HAVING b.held_tokens <> coalesce(sum(r.held), 0) OR b.held_micro_usd <> coalesce(sum(r.held_micro_usd), 0)`)
  return rows.map(({ broken }) => broken)
}
