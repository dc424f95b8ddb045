// Fills a data directory with keys, past exchanges, refusals and changes, sums included, to see how the gateway does when it is full.
// bun scripts/seed.ts --data DIR [--keys 1000] [--exchanges 1000000] [--days 90]

import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SUMS } from '../src/store/figures.ts'
import { LIST_ALL } from '../src/store/sqlite/blocks.ts'
import { openStore } from '../src/store/sqlite/index.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    keys: { type: 'string', default: '1000' },
    exchanges: { type: 'string', default: '1000000' },
    days: { type: 'string', default: '90' },
  },
})
if (values.data === undefined) {
  console.error('usage: bun scripts/seed.ts --data DIR [--keys 1000] [--exchanges 1000000] [--days 90]')
  process.exit(2)
}

const DAY_MS = 86_400_000
const BATCH = 500_000
const path = join(values.data, 'sluice.db')
const keyCount = Number(values.keys)
const total = Number(values.exchanges)
const now = Date.now()
const from = now - Number(values.days) * DAY_MS

await openStore(path).close()
const db = new Database(path)
db.run('PRAGMA synchronous = OFF')
db.run('PRAGMA journal_mode = MEMORY')
db.run('PRAGMA cache_size = -262144')
if (db.query('SELECT 1 FROM exchanges LIMIT 1').get() !== null) {
  console.error(`${path} holds exchanges already; seed an empty data directory`)
  process.exit(1)
}

db.run(
  `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
   INSERT INTO keys (id, label, hash, created_at, expires_at, tokens_total, models, version)
   SELECT printf('key_seed%012d', i), printf('seed %d', i), lower(hex(randomblob(32))), ?2, ?3, 1000000000000, '["*"]',
     (SELECT coalesce(max(version), 0) + 1 FROM keys) FROM n`,
  [keyCount, from, now + 365 * DAY_MS],
)

// Nine of ten keys have an owner, and half of those are in a team.
db.run(
  `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 50)
   INSERT INTO members (id, name, role, created_at, team_id)
   SELECT printf('mem_seed%012d', i), printf('seed %d', i), 'member', ?1, iif(i % 2, printf('team_seed%011d', i % 5), NULL) FROM n`,
  [from],
)
db.run(
  `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 5)
   INSERT INTO teams (id, name, created_at) SELECT printf('team_seed%011d', i), printf('seed %d', i), ?1 FROM n`,
  [from],
)
db.run(
  "UPDATE keys SET owner_id = printf('mem_seed%012d', row % 50) FROM (SELECT id AS of, row_number() OVER () AS row FROM keys) WHERE of = id AND row % 10 > 0",
)

// Rows first, indexes after: sorted once instead of kept in order ten million times.
const indexes = db
  .query<{ name: string; sql: string }, []>(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'exchanges' AND sql IS NOT NULL",
  )
  .all()
for (const { name } of indexes) db.run(`DROP INDEX ${name}`)

const step = (now - from) / total
/** After so many exchanges one request is refused: rows of both are of one series. */
const BETWEEN = 19

const MODELS = ['vendorA-opus-4-8', 'vendorA-sonnet-5', 'vendorA-haiku-4-5', 'vendorB-5.5', 'vendorB-5.4', 'vendorB-4o']
const insert = `
  WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2),
  r AS MATERIALIZED (
    SELECT i, ?3 + CAST(i * ?4 AS integer) AS at, abs(random() % ?5) AS k, abs(random() % 100) AS luck,
      abs(random() % 4000) AS input, abs(random() % 1500) AS output FROM n)
  INSERT INTO exchanges (row, id, key_id, model, wire, stream, started_at, input_estimate, reserved, ended_at, outcome,
    status, error_code, provider, account, upstream_model, provider_wire, attempts, first_byte_ms, total_ms, input,
    cache_read, cache_write, output, estimated, cost_micro_usd, raw_usage)
  SELECT i + 1 + i / ${BETWEEN}, printf('req_%011x%08x', at, i), printf('key_seed%012d', k), json_extract(?6, '$[' || ((k + luck % 2) % 6) || ']'),
    'messages', 1, at, input, input + 32000, at + output * 10, iif(luck < 96, 'done', 'failed'), iif(luck < 96, 200, 502),
    iif(luck < 96, NULL, 'upstream_error'), 'vendor_a', 'main', 'opus-4-8-20260101', 'messages', 1, 300, output * 10, input,
    0, 0, output, 0, input * 5 + output * 25,
    printf('{"input_tokens":%d,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":%d}', input, output)
  FROM r`
for (let at = 0; at < total; at += BATCH) {
  db.run(insert, [at, Math.min(at + BATCH, total), from, step, keyCount, JSON.stringify(MODELS)])
  console.error(`${Math.min(at + BATCH, total)} exchanges`)
}
for (const { sql } of indexes) db.run(sql)

db.run(
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
   INSERT INTO refusals (row, id, key_id, at, wire, path, model, status, error_code, failed, told)
   SELECT i * ${BETWEEN + 1}, printf('req_refused%011x', i), printf('key_seed%012d', i % ?2), ?3 + CAST(i * ?4 AS integer), 'messages',
     '/v1/messages', json_extract(?5, '$[' || (i % 6) || ']'), iif(i % 3, 429, 402), iif(i % 3, 'rate_limit_exceeded', 'quota_exhausted'),
     iif(i % 3, 'rate limit', 'quota'), 'The limit of this key is reached.' FROM n`,
  [Math.floor(total / BETWEEN), keyCount, from, step * BETWEEN, JSON.stringify(MODELS)],
)
for (const key of ['key_id', "''"])
  db.run(
    `INSERT INTO refused_hours (key_id, hour, code, count)
     SELECT ${key}, at - at % 3600000, error_code, count(*) FROM refusals GROUP BY 1, 2, 3`,
  )
db.run(
  `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
   INSERT INTO audit (at, actor_kind, actor_id, action, target, before, after)
   SELECT ?1 + CAST(i * ?2 AS integer), 'member', printf('mem_seed%012d', i % 50), 'key.update', printf('key_seed%012d', i % ?3),
     '{"rpm":5}', '{"rpm":6}' FROM n`,
  [from, (now - from) / 100_000, keyCount],
)

for (const [table, span, spanMs] of [
  ['usage_hours', 'hour', 3_600_000],
  ['usage_days', 'day', DAY_MS],
] as const) {
  db.run(
    `INSERT INTO ${table} (${span}, key_id, model, ${SUMS.join(', ')})
     SELECT started_at - started_at % ${spanMs} AS ${span}, key_id, model, count(*),
       sum(outcome IN ('refused', 'failed')), sum(coalesce(input, 0)), sum(coalesce(cache_read, 0)),
       sum(coalesce(cache_write, 0)), sum(coalesce(output, 0)), sum(coalesce(reasoning, 0)), sum(cost_micro_usd),
       sum(coalesce(fees_micro_usd, 0))
     FROM exchanges GROUP BY 1, 2, 3`,
  )
}
const figures = SUMS.join(', ')
const summed = SUMS.map((name) => `sum(${name})`).join(', ')
db.run(
  `INSERT INTO usage_models (hour, model, ${figures}) SELECT hour, model, ${summed} FROM usage_hours GROUP BY 1, 2`,
)
db.run(
  `INSERT INTO usage_accounts (hour, provider, account, ${figures})
   SELECT hour, 'vendor_a', 'main', ${summed} FROM usage_hours GROUP BY 1`,
)
db.run(
  `INSERT INTO usage_tags (day, key_id, tag, ${figures})
   SELECT day, key_id, printf('project-%d', abs(random() % 20)), ${summed} FROM usage_days WHERE substr(key_id, -1) = '7' GROUP BY 1, 2`,
)
db.run(
  `INSERT INTO usage_tools (day, key_id, model, tool, calls)
   SELECT day, key_id, model, 'web_search', requests / 10 + 1 FROM usage_days WHERE substr(key_id, -1) = '3'`,
)
for (const list of LIST_ALL) db.run(list)
db.run(
  `UPDATE keys SET last_used_at = used.at FROM (SELECT key_id, max(started_at) AS at FROM exchanges GROUP BY 1) AS used
   WHERE used.key_id = keys.id`,
)
db.run(`UPDATE keys SET tokens_used = coalesce((SELECT sum(input + cache_read + cache_write + output)
  FROM usage_days WHERE key_id = keys.id), 0)`)
db.close(true)
console.error(`${path}: ${keyCount} keys, ${total} exchanges`)
