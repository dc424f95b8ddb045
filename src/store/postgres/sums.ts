// Adds exchanges that ended to the tables of sums, each once, in whatever order they are committed and however many nodes do it:
// what marks a row as summed adds it.

import { MOST_TAGS, OTHER_TAGS } from '../../ledger/tags.ts'
import type { Calendar } from '../../lib/calendar.ts'
import { DAY_MS, HOUR_MS } from '../../lib/spans.ts'
import { SUMS } from '../figures.ts'
import type { Client, Queries } from './client.ts'

/** So many by one statement, which takes some 80 µs for each. */
const AT_ONCE = 5_000

/** Held while sums are written or removed: two that add to the same rows in their own orders would wait for each other. */
export const LOCK = 7_588_219_045

/** Runs what writes or removes sums, alone among all nodes; what is done a second time does no more. */
export const alone = <T>(db: Pick<Client, 'begin'>, run: (tx: Queries) => Promise<T>): Promise<T> =>
  db.begin(
    async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock($1)', [LOCK])
      return await run(tx)
    },
    { isRepeatable: true },
  )

export type Sums = {
  /** Adds all that was committed before the call. */
  add(): Promise<void>
  /**
   * Adds regularly, so that a read finds little to add, until the returned function is called. On every node: with nothing
   * due it costs a look at an empty index. Does not keep the process alive.
   */
  watch(intervalMs?: number): () => void
}

export const createSums = (db: Client, calendar: Calendar, atOnce = AT_ONCE): Sums => {
  /** The run under way, and the one that begins after it for all who asked meanwhile. */
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const begin = (): Promise<void> => {
    const run = addAll(db, calendar, atOnce).finally(() => {
      if (running === run) running = undefined
    })
    running = run
    return run
  }
  const add = (): Promise<void> => {
    if (running === undefined) return begin()
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined
        return begin()
      })
    return next
  }
  return {
    add,
    watch(intervalMs = 1_000) {
      let timer: Timer | undefined
      let stopped = false
      const again = (): void => {
        if (!stopped) timer = setTimeout(look, intervalMs).unref()
      }
      // A database that is not there now is asked the next time.
      const look = (): void => void add().then(again, again)
      again()
      return () => {
        stopped = true
        clearTimeout(timer)
      }
    },
  }
}

const addAll = async (db: Client, calendar: Calendar, atOnce: number): Promise<void> => {
  for (;;) {
    const [due] = await db.query<{ first: number | null; last: number | null }>(
      `SELECT min(started_at) AS first, max(started_at) AS last
       FROM (SELECT started_at FROM exchanges WHERE NOT summed ORDER BY row LIMIT $1) AS due`,
      [atOnce],
    )
    const { first, last } = due ?? { first: null, last: null }
    if (first === null || last === null) return
    const statement = addBetween(first, last, calendar)
    await alone(db, (tx) => tx.query(statement, [first, last, atOnce]))
  }
}

/** Sums stay numbers that can be read. */
const most = (value: string): string => `least(${value}, ${Number.MAX_SAFE_INTEGER})`
const COLUMNS = SUMS.join(', ')
const FIGURES = { columns: COLUMNS, summed: SUMS.map((name) => most(`sum(${name})`)).join(', ') }
const CALLS = { columns: 'calls', summed: most('sum(calls)') }

/** Adds to a table of sums, whose rows are told apart by these columns. */
const addTo = (table: string, by: string, from: string, { columns, summed } = FIGURES): string => `
  INSERT INTO ${table} (${by}, ${columns}) SELECT ${by}, ${summed} FROM ${from} GROUP BY ${by} ORDER BY ${by}
  ON CONFLICT (${by}) DO UPDATE SET ${columns
    .split(', ')
    .map((name) => `${name} = ${most(`${table}.${name} + excluded.${name}`)}`)
    .join(', ')}`

/** Of exchanges that began in this range: those whose hours and days these clocks tell. */
const addBetween = (first: number, last: number, calendar: Calendar): string => {
  const { hour, day } = clocksIn(first, last, calendar)
  return `
WITH due AS MATERIALIZED (
  SELECT row FROM exchanges WHERE NOT summed AND started_at BETWEEN $1 AND $2 ORDER BY row LIMIT $3 FOR UPDATE
), taken AS (
  UPDATE exchanges SET summed = true FROM due WHERE exchanges.row = due.row AND NOT exchanges.summed
  RETURNING exchanges.row AS row, key_id, model, coalesce(provider, '') AS provider, coalesce(account, '') AS account, tag,
    server_tools, ${hour} AS hour, ${day} AS day, 1 AS requests,
    CASE WHEN outcome IN ('failed', 'refused') THEN 1 ELSE 0 END AS errors, coalesce(input, 0) AS input,
    coalesce(cache_read, 0) AS cache_read, coalesce(cache_write, 0) AS cache_write, coalesce(output, 0) AS output,
    coalesce(reasoning, 0) AS reasoning, cost_micro_usd, coalesce(fees_micro_usd, 0) AS fees_micro_usd
), of_hours AS (${addTo('usage_hours', 'hour, key_id, model', 'taken')}
), of_days AS (${addTo('usage_days', 'day, key_id, model', 'taken')}
), of_models AS (${addTo('usage_models', 'hour, model', 'taken')}
), of_accounts AS (${addTo('usage_accounts', 'hour, provider, account', 'taken')}
), tools AS (
  SELECT day, key_id, model, told.key AS tool, CASE WHEN told.value ~ '^[0-9]{1,15}$' THEN told.value::bigint ELSE 0 END AS calls
  FROM taken CROSS JOIN LATERAL json_each_text(server_tools::json) AS told WHERE server_tools IS NOT NULL
), of_tools AS (${addTo('usage_tools', 'day, key_id, model, tool', 'tools', CALLS)}
), asked AS (
  SELECT day, key_id, tag, min(row) AS first FROM taken WHERE tag IS NOT NULL GROUP BY day, key_id, tag
), known AS (
  SELECT asked.*, count(had.tag) AS others, coalesce(bool_or(had.tag = asked.tag), false) AS is_known
  FROM asked LEFT JOIN usage_tags AS had ON had.day = asked.day AND had.key_id = asked.key_id AND had.tag <> '${OTHER_TAGS}'
  GROUP BY asked.day, asked.key_id, asked.tag, asked.first
), billed AS (
  SELECT day, key_id, tag, is_known OR
    others + row_number() OVER (PARTITION BY day, key_id, is_known ORDER BY first) <= ${MOST_TAGS} AS fits
  FROM known
), tagged AS (
  SELECT day, key_id, CASE WHEN fits THEN tag ELSE '${OTHER_TAGS}' END AS tag, ${COLUMNS}
  FROM taken JOIN billed USING (day, key_id, tag)
), of_tags AS (${addTo('usage_tags', 'day, key_id, tag', 'tagged')})
SELECT count(*) AS added FROM taken`
}

/** The hour and the day that an exchange began in, in SQL; the range has a few changes of the clocks a year. */
const clocksIn = (first: number, last: number, calendar: Calendar): { hour: string; day: string } => {
  const parts = [calendar.offsetAt(first)]
  for (let end = parts[0]?.until ?? 0; end <= last; end = parts.at(-1)?.until ?? 0) parts.push(calendar.offsetAt(end))
  const inEach = (told: (ms: number, from: number) => string): string => {
    const cases = parts.map(({ ms, from, until }) => [told(ms, from), until] as const)
    const [only] = cases
    if (cases.length === 1 && only !== undefined) return only[0]
    const whens = cases.map(
      ([text, until]) => `WHEN ${Number.isFinite(until) ? `started_at < ${until}` : 'true'} THEN ${text}`,
    )
    return `CASE ${whens.join(' ')} END`
  }
  return {
    hour: inEach((ms, from) => {
      const began = `floor((started_at + (${ms})) / ${HOUR_MS}.0)::bigint * ${HOUR_MS} - (${ms})`
      return Number.isFinite(from) ? `greatest(${began}, ${from})` : began
    }),
    day: inEach((ms) => `floor((started_at + (${ms})) / ${DAY_MS}.0)::bigint * ${DAY_MS}`),
  }
}
