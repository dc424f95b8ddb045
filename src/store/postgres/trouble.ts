// What is known of a statement that failed, and what a person can do about it.

import { type StoreError, storeError } from '../store.ts'

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

/** A host that lets nobody in, as one that was put aside, or that has not the database yet, as one that is behind. */
export const isKeptOut = (error: unknown): boolean =>
  isPostgresError(error) && (error.state === '3D000' || error.state?.startsWith('28') === true)

export const failure = (trouble: Trouble, message: string, cause?: unknown, state?: string): PostgresError => {
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
export const toError = (cause: unknown): PostgresError | undefined => {
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
