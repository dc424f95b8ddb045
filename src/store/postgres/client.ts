// The one way to PostgreSQL: statements with deadlines over a pool, and their values as this program has them.

import { SQL } from 'bun'
import { hostAt, type LookUp, lookUp } from '../hosts.ts'
import { storeError } from '../store.ts'
import { placeAt, placeOf } from './place.ts'
import { failure, isKeptOut, isPostgresError, type Trouble, toError, troubleOf } from './trouble.ts'

/** `int8` and `numeric` are numbers, and no others than whole ones that are exact; arrays are arrays, JSON text is text. */
export type Row = Record<string, unknown>

/**
 * `deadlineMs`: after it what came of it is unknown, and the pool is made anew. `isRepeatable`: a second time does no more than
 * the first, so that it is tried again where what came of it is unknown.
 */
type Manner = { deadlineMs?: number; isRepeatable?: boolean }

/**
 * `level`: what its statements see; each what was committed before it, by default. `stuckMs`: for how long it may stand still
 * between two of them, 3 s by default, and `lockMs`: for how long one waits for what others have locked, 4 s by default; for as
 * long as it takes where that is 0.
 */
export type TransactionManner = Manner & { level?: string; stuckMs?: number; lockMs?: number }

/** Parameters: text, whole numbers, true and false, null or undefined for none, and arrays of these. */
export type Queries = {
  query<R extends object = Row>(text: string, params?: readonly unknown[], manner?: Manner): Promise<R[]>
}

export type Client = Queries & {
  /**
   * One transaction. `run` is called again where it came into another's way, and asks by `tx` alone; its deadline is of it all.
   * The database ends one of which nothing is heard any more, as of a node that stands still or behind a network that is silent:
   * what it has locked would be locked for hours.
   */
  begin<T>(run: (tx: Queries) => Promise<T>, manner?: TransactionManner): Promise<T>
  close(): Promise<void>
}

type ClientOptions = {
  /** Connections at most; 10 by default. */
  max?: number
  connectMs?: number
  lookUp?: LookUp
}

const DEADLINE_MS = 10_000
const CONNECT_MS = 5_000
const CONNECTIONS = 10
/** Of statements; who asks less has little of them prepared. */
const KNOWN_AFTER = 100
/** A statement that is always in another's way is not tried for ever. */
const MOST_AGAIN = 20
/** Between two tries to reach a server, or to get through while others are in the way. */
const PAUSE_MS = 50
/** With less left, another try would only be cut off, and nobody would know what came of it. */
const LEAST_TRY_MS = 200

/** Throws a StoreError where it is none that can be used as it is. */
export const createClient = (url: string, options: ClientOptions = {}): Client => {
  const place = placeOf(url)
  /** Which of its hosts is asked. */
  let at = 0
  const hosts = place.urls.map((url) => ({ url, ...hostAt(new URL(url).hostname, options.lookUp) }))
  const host = () => hosts[at % hosts.length]
  /** Statements are prepared once it is known that nobody stands between who mixes connections. */
  let prepare = place.prepare === true
  let answered = 0
  const make = (): SQL => {
    const { url, tls } = placeAt(place, host()?.url ?? '', host()?.address())
    return new SQL({
      url,
      max: options.max ?? place.max ?? CONNECTIONS,
      connectionTimeout: Math.max(1, Math.ceil((options.connectMs ?? CONNECT_MS) / 1_000)),
      prepare,
      bigint: true,
      ...(tls === undefined ? {} : { tls }),
    })
  }
  let pool = make()
  let isClosed = false

  /** A pool whose connections have been cut in silence does not find out by itself. Another host may be the first by now. */
  const replace = (old: SQL): void => {
    if (old !== pool || isClosed) return
    at++
    renew()
  }
  /** `timeout`: how many seconds what is on its way has to end. */
  const renew = (timeout = 0): void => {
    const old = pool
    prepare = place.prepare ?? timeout > 0
    answered = 0
    pool = make()
    void old.close({ timeout }).catch(nothing)
  }
  const follow = async (): Promise<void> => {
    const failed = pool
    if ((await host()?.hasMoved()) === true && failed === pool && !isClosed) renew()
  }

  /** A statement that was prepared over one connection would be another's over the next. */
  const prepareIf = async (sql: SQL): Promise<void> => {
    const [row] = await ask<Listening>(sql, LISTENING, []).catch(() => [])
    const isSo = row !== undefined && (await isReached(new URL(host()?.url ?? ''), row, options.lookUp))
    if (isSo && sql === pool && !isClosed) renew(DEADLINE_MS / 1_000)
  }

  const inTime = async <T>(run: (sql: SQL) => Promise<T>, deadlineMs: number): Promise<T> => {
    const sql = pool
    if (isClosed) throw failure('not-done', 'The store is closed.')
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      reject(failure('unknown', 'The database did not answer in time.'))
      replace(sql)
      void follow()
    }, deadlineMs)
    try {
      const result = await Promise.race([run(sql), late])
      if (++answered === KNOWN_AFTER && place.prepare === undefined && !prepare) void prepareIf(sql)
      return result
    } catch (cause) {
      const error = isPostgresError(cause) ? cause : toError(cause)
      if (error === undefined) throw cause
      const isNobody = error.trouble === 'not-done' || isKeptOut(error)
      if (error.trouble === 'read-only' || (isNobody && hosts.length > 1)) replace(sql)
      if (error.trouble === 'read-only' || isNobody) void follow()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  const carryOut = async <T>(run: (sql: SQL) => Promise<T>, manner: Manner = {}): Promise<T> => {
    const { deadlineMs = DEADLINE_MS, isRepeatable = false } = manner
    const from = performance.now()
    const until = from + deadlineMs
    // What takes long once it is begun does not wait as long for a server to begin with.
    const there = from + Math.min(deadlineMs, DEADLINE_MS)
    let said: string | undefined
    for (let tries = 1; ; tries++) {
      try {
        return await inTime(run, Math.max(1, until - performance.now()))
      } catch (cause) {
        const trouble = troubleOf(cause)
        const elsewhere = isKeptOut(cause) && tries < hosts.length
        const may = trouble === 'again' ? tries < MOST_AGAIN : elsewhere || isAgain(trouble, isRepeatable)
        const least = performance.now() + PAUSE_MS + LEAST_TRY_MS
        if (!may || isClosed || least >= (trouble === 'again' ? until : there)) throw worded(cause, said)
        said = cause instanceof Error ? cause.message : undefined
        // The first tries at once: whoever was in the way is done.
        if (trouble !== 'again' || tries > 3) await Bun.sleep(Math.random() * PAUSE_MS)
      }
    }
  }

  return {
    query: (text, params = [], manner) => carryOut((sql) => ask(sql, text, params), manner),
    begin: (run, manner) =>
      carryOut(
        (sql) =>
          sql.begin(async (tx) => {
            await ask(tx, begunBy(manner), [])
            return run({ query: (text, params = []) => ask(tx, text, params) })
          }) as Promise<never>,
        manner,
      ),
    async close() {
      isClosed = true
      await pool.close({ timeout: 0 }).catch(nothing)
    },
  }
}

const nothing = (): void => undefined

/** The first words of a transaction, whatever the database does by itself. */
const begunBy = ({ level = 'READ COMMITTED', stuckMs = 3_000, lockMs = 4_000 }: TransactionManner = {}): string =>
  `SET TRANSACTION ISOLATION LEVEL ${level}; SET LOCAL idle_in_transaction_session_timeout = ${stuckMs}; SET LOCAL lock_timeout = ${lockMs}`

/** Where the server itself takes connections; null where that is a socket. */
type Listening = { address: string | null; port: number | null }
const LISTENING = 'SELECT host(inet_server_addr()) AS address, inet_server_port() AS port'

/** Whether that is where this client connects to: a pooler has an address, or a port, of its own. */
const isReached = async (url: URL, { address, port }: Listening, look: LookUp = lookUp): Promise<boolean> => {
  if (address === null || port !== Number(url.port || 5_432)) return false
  const name = url.hostname.replaceAll(/[[\]]/g, '')
  return name === address || (await look(name).catch((): string[] => [])).includes(address)
}

/** A last try that is cut off says less than the one before it. */
const worded = (cause: unknown, before: string | undefined): unknown =>
  before !== undefined && isPostgresError(cause) && cause.trouble === 'unknown'
    ? failure('unknown', before, cause)
    : cause

const isAgain = (trouble: Trouble | undefined, isRepeatable: boolean): boolean =>
  trouble === 'not-done' || trouble === 'read-only' || (trouble === 'unknown' && isRepeatable)

/** As Bun has them: `columns` tells the types. */
type Result<R> = R[] & { columns?: readonly { name: string; type: number }[] }

const ask = async <R extends object>(
  sql: Pick<SQL, 'unsafe'>,
  text: string,
  params: readonly unknown[],
): Promise<R[]> => {
  const rows: Result<R> = await sql.unsafe(text, params.map(toParam))
  const converted = rows.columns?.filter(({ type }) => CONVERTED.has(type)) ?? []
  const plain = Array.from(rows)
  if (converted.length > 0)
    for (const row of plain as Row[]) for (const { name } of converted) row[name] = toValue(row[name])
  return plain
}

/** int8, numeric, and arrays of int4 and int8. */
const CONVERTED = new Set([20, 1700, 1007, 1016])

const toValue = (value: unknown): unknown => {
  if (typeof value === 'bigint' || typeof value === 'string') {
    const number = Number(value)
    if (!Number.isSafeInteger(number))
      throw storeError(`The database has a number that cannot be counted on: ${value}.`)
    return number
  }
  return Array.isArray(value) || value instanceof Int32Array ? Array.from(value, toValue) : value
}

/** PostgreSQL has no NUL in a text, and rounds in silence what is no whole number. */
const toParam = (value: unknown): unknown => {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw failure('refused', `Not a whole number: ${value}.`)
    return value
  }
  return Array.isArray(value) ? value.map(toParam) : (value ?? null)
}
