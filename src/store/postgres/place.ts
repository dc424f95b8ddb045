// Where the URL of the store leads: to which hosts, by which connections, and how much of the way is encrypted.

import { readFileSync } from 'node:fs'
import { isTooOpen, SSL_MODES } from '../../lib/postgres-tls.ts'
import { atEach, postgresUrls } from '../../lib/postgres-url.ts'
import { storeError } from '../store.ts'

/** `isEncrypted`: always, and not only where the server has it. */
export type Place = {
  urls: string[]
  /** Undefined where it is to be found out. */
  prepare: boolean | undefined
  max: number | undefined
  tls: Bun.TLSOptions | undefined
  isEncrypted: boolean
}

/** By its address it is still known by its name, for its certificate and to whatever chooses a server by that. */
export const placeAt = ({ tls, isEncrypted }: Place, named: string, address: string | undefined) => {
  if (address === undefined) return { url: named, tls }
  const url = new URL(named)
  const serverName = url.hostname
  url.hostname = address.includes(':') ? `[${address}]` : address
  return { url: url.href, tls: isEncrypted ? { ...tls, serverName } : tls }
}

/** What a URL says of how it is used is taken out of it: a server is sent what is left, and refuses what it does not know. */
export const placeOf = (text: string): Place => {
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
