// The one way to PostgreSQL: statements with deadlines over a pool, their values as this program has them, and what is known
// of a statement that failed.

import { readFileSync } from 'node:fs'
import { SQL } from 'bun'
import { isTooOpen, SSL_MODES } from '../../lib/postgres-tls.ts'
import { atEach, postgresUrls } from '../../lib/postgres-url.ts'
import { hostAt, type LookUp, lookUp } from '../hosts.ts'
import { type StoreError, storeError } from '../store.ts'

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

/**
 * What is known of it: `unknown`: it may have been carried out; `not-done`: nobody was reached; `again`: it was in another's way,
 * and undone; `read-only`: this server is not the first any more; `refused`: for its values; `wrong`: for anything else.
 */
export type Trouble = 'unknown' | 'not-done' | 'again' | 'read-only' | 'refused' | 'wrong'

/** `state`: the SQLSTATE, where the server said one. */
export type PostgresError = StoreError & { trouble: Trouble; state: string | undefined }

export const isPostgresError = (error: unknown): error is PostgresError =>
  error instanceof Error && error.name === 'StoreError' && 'trouble' in error

export const troubleOf = (error: unknown): Trouble | undefined => (isPostgresError(error) ? error.trouble : undefined)

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

/** A host that lets nobody in, as one that was put aside, or that has not the database yet, as one that is behind. */
const isKeptOut = (error: unknown): boolean =>
  isPostgresError(error) && (error.state === '3D000' || error.state?.startsWith('28') === true)

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

const failure = (trouble: Trouble, message: string, cause?: unknown, state?: string): PostgresError => {
  const error = Object.assign(storeError(message, cause), { trouble, state })
  return trouble === 'again' || trouble === 'not-done' ? Object.assign(error, { busy: true as const }) : error
}

/** The words that a person can act on; what the database said is the cause. */
const WORDS: Record<Exclude<Trouble, 'wrong'>, string> = {
  unknown: 'The connection to the database was lost.',
  'not-done': 'The database cannot be reached: check that it runs and that the URL of the store is right.',
  again: 'The database is busy.',
  'read-only':
    'The database takes no writes: the URL of the store must lead to the primary, where default_transaction_read_only is off.',
  refused: 'The database refused what it was to write.',
}

const CHECK_URL = 'check the user, the password, the database and the sslmode in the URL of the store.'
const MISSING =
  'its tables are not all there: where the database is a new one, start the node anew, which makes them; else restore a backup.'
/** What an operator does about what stands in the way of the first statement already, by its state. */
const THEN: Record<string, string> = {
  '08P01':
    'a pooler in front of it says so: see that it reaches the database and hands out connections by transactions, and take what it does not know out of the URL of the store.',
  '28000': CHECK_URL,
  '28P01': CHECK_URL,
  '3D000': CHECK_URL,
  '3F000': 'make the first schema of its search_path, and let its user create tables there.',
  '42501': 'make its user the owner of the database, or grant it that.',
  '42703': MISSING,
  '42883': MISSING,
  '42P01': MISSING,
  '42704': 'take it out of the URL of the store.',
  '53100': 'make room on its disk.',
  '25P04': 'set the transaction_timeout of its user to 0, or to more than ten seconds.',
  '53300': 'raise that limit there, or give each node fewer by ?connections= in the URL of the store.',
  '57014': 'set the statement_timeout of its user to 0, or to more than ten seconds.',
}

/** Undefined for what PostgreSQL and its connections have nothing to do with. */
const toError = (cause: unknown): PostgresError | undefined => {
  if (!(cause instanceof Error) || !('code' in cause)) return undefined
  const code = String(cause.code)
  if (!code.startsWith('ERR_POSTGRES')) return ofCertificate(cause, code)
  const state = 'errno' in cause && typeof cause.errno === 'string' ? cause.errno : undefined
  if (code === 'ERR_POSTGRES_TLS_NOT_AVAILABLE') return failure('wrong', NO_TLS, cause)
  if (code.includes('CHANNEL_BINDING')) return failure('wrong', NO_BINDING, cause)
  const trouble = state === undefined ? ofConnection(code) : ofState(state)
  const then = state === undefined ? undefined : THEN[state]
  return failure(
    trouble,
    then === undefined ? wordsOf(trouble, cause) : `The database says: ${cause.message}: ${then}`,
    cause,
    state,
  )
}

/** What it says of a statement names no values, which are sent beside it; of a value that it refuses it may. */
const wordsOf = (trouble: Trouble, { message }: Error): string =>
  trouble === 'wrong' ? `The database refused a statement: ${message}.` : WORDS[trouble]

const NO_TLS =
  'The database has no TLS: turn it on there, or say sslmode=disable in the URL of the store where the way to it is private.'

const NO_BINDING =
  'The URL of the store asks for channel_binding, which needs TLS: turn it on there, or take it out of the URL.'

/** A connection that was to be encrypted: nothing was asked yet. */
const ofCertificate = (cause: Error, code: string): PostgresError | undefined => {
  if (!/CERT|SIGNATURE|SSL|TLS/.test(code)) return undefined
  const then = code.includes('ALTNAME')
    ? 'call it by a name that its certificate has in the URL of the store, or say sslmode=verify-ca there'
    : code.includes('BORINGSSL')
      ? 'check the files that sslrootcert, sslcert and sslkey in the URL of the store name'
      : 'name the file with the certificate of its authority by sslrootcert in the URL of the store'
  return failure('wrong', `The database's certificate is not accepted: ${cause.message}: ${then}.`, cause)
}

const ofConnection = (code: string): Trouble =>
  /REFUSED|CONNECTION_TIMEOUT|TLS|SSL|PASSWORD|AUTHENTICATION/.test(code) ? 'not-done' : 'unknown'

const ofState = (state: string): Trouble => {
  // Among them a transaction that was ended for standing still, and a connection that was: what came then had not begun.
  if (['40001', '40P01', '55P03', '25P03', '57P05'].includes(state)) return 'again'
  if (state === '25006') return 'read-only'
  // It starts, or has as many connections, or as much on its disk, as it takes.
  if (state === '57P03' || state.startsWith('53')) return 'not-done'
  if (state.startsWith('57P') || state.startsWith('08') || state === '40003') return 'unknown'
  return state.startsWith('22') || state.startsWith('23') ? 'refused' : 'wrong'
}

/** `isEncrypted`: always, and not only where the server has it. */
type Place = {
  urls: string[]
  /** Undefined where it is to be found out. */
  prepare: boolean | undefined
  max: number | undefined
  tls: Bun.TLSOptions | undefined
  isEncrypted: boolean
}

/** By its address it is still known by its name, for its certificate and to whatever chooses a server by that. */
const placeAt = ({ tls, isEncrypted }: Place, named: string, address: string | undefined) => {
  if (address === undefined) return { url: named, tls }
  const url = new URL(named)
  const serverName = url.hostname
  url.hostname = address.includes(':') ? `[${address}]` : address
  return { url: url.href, tls: isEncrypted ? { ...tls, serverName } : tls }
}

/** What a URL says of how it is used is taken out of it: a server is sent what is left, and refuses what it does not know. */
const placeOf = (text: string): Place => {
  const urls = postgresUrls(text)
  if (urls === undefined) throw storeError('The store must be a URL like postgres://user:password@host:5432/database.')
  const [url] = urls
  const told = (name: string): string | undefined => {
    const value = url.searchParams.get(name) ?? undefined
    url.searchParams.delete(name)
    return value
  }
  const mode = told('sslmode')
  if (mode !== undefined && !SSL_MODES.some((each) => each === mode))
    throw storeError(`The sslmode of the store's URL must be one of ${SSL_MODES.join(', ')}.`)
  if (urls.some(({ hostname }) => isTooOpen(hostname, mode)))
    throw storeError(
      'The database is not in a private network: add ?sslmode=verify-full to the URL of the store, or ?sslmode=require, which does not check who answers.',
    )
  const tls = tlsOf(told)
  const max = told('connections')
  if (max !== undefined && !/^[1-9]\d{0,3}$/.test(max))
    throw storeError("The connections of the store's URL must be a number from 1 to 9999.")
  const prepare = { true: true, false: false }[told('prepare') ?? '']
  // Whoever names an authority is to have it asked, as by PostgreSQL's own clients.
  const isAsked = mode === 'require' && tls?.ca !== undefined
  url.searchParams.set('sslmode', isAsked ? 'verify-ca' : (mode ?? 'prefer'))
  // The primary is looked for as whoever says that it must be has it.
  told('target_session_attrs')
  const isEncrypted = mode === 'require' || mode?.startsWith('verify-') === true
  return { urls: atEach(url, urls), prepare, max: max === undefined ? undefined : Number(max), tls, isEncrypted }
}

/** Its authority (`system`: those that this machine trusts, as without one), and how this node shows who it is. */
const tlsOf = (told: (name: string) => string | undefined): Bun.TLSOptions | undefined => {
  const [ca, cert, key] = ['sslrootcert', 'sslcert', 'sslkey'].map((name) => {
    const path = told(name)
    return path === undefined || path === 'system' ? undefined : readPart(path, name)
  })
  if ((cert === undefined) !== (key === undefined))
    throw storeError("The store's URL must have both sslcert and sslkey, or neither.")
  if (ca === undefined && cert === undefined) return undefined
  return {
    ...(ca === undefined ? {} : { ca, rejectUnauthorized: true }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  }
}

const readPart = (path: string, name: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw storeError(`Cannot read ${path}, the ${name} of the store's URL.`, cause)
  }
}
