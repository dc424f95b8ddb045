// Where the books are: in the data directory, or in a PostgreSQL database that several nodes share. And where those count the
// limits of keys, if elsewhere.

import { isTooOpen, SSL_MODES } from '../lib/postgres-tls.ts'
import { hostsOf, postgresUrls } from '../lib/postgres-url.ts'
import { type Env, resolveSecret } from './secret.ts'

export const STORE_FORM = 'a database such as postgres://user@host/name, or env:NAME or file:PATH of one'

export const LIMITS_FORM = 'a Valkey or Redis server such as redis://host:6379, or env:NAME or file:PATH of one'

/** As it is written somewhere: the text, and what a relative `file:` of it starts from. */
type Written = { text: string; directory: string; env: Env }

/** `isLiteral`: its password stands in the file itself. No problem holds what was written, which may have a password in it. */
type Read = { url: string; isLiteral: boolean } | { problem: string }

export const readStoreUrl = ({ text, directory, env }: Written): Read => {
  const resolved = resolveSecret(text, env, directory)
  if ('problem' in resolved) return resolved
  const urls = postgresUrls(resolved.value)
  if (urls === undefined || urls[0].pathname.length < 2) return { problem: notRead(resolved.value, STORE_FORM) }
  const [url] = urls
  const mode = url.searchParams.get('sslmode') ?? undefined
  if (mode !== undefined && !SSL_MODES.some((each) => each === mode))
    return { problem: `found an unknown sslmode, allowed: ${SSL_MODES.join(', ')}` }
  const open = urls.find(({ hostname }) => isTooOpen(hostname, mode))
  if (open !== undefined)
    return {
      problem: `found ${open.hostname}, which is no private address, without TLS; add ?sslmode=verify-full (or require, which does not check whose certificate it is)`,
    }
  url.protocol = 'postgres:'
  const before = url.username === '' && url.password === '' ? '//' : '@'
  const href = url.href.replace(before + url.host, () => before + hostsOf(urls))
  return { url: href, isLiteral: resolved.literal && url.password !== '' }
}

export const readLimitsUrl = ({ text, directory, env }: Written): Read => {
  const resolved = resolveSecret(text, env, directory)
  if ('problem' in resolved) return resolved
  const url = URL.parse(resolved.value.trim())
  const isOne = url !== null && /^(?:redis|valkey)s?:$/.test(url.protocol) && url.hostname !== ''
  if (!isOne || !/^\/?\d*$/.test(url.pathname)) return { problem: notRead(resolved.value, LIMITS_FORM) }
  const isEncrypted = url.protocol === 'rediss:' || url.protocol === 'valkeys:'
  if (!isEncrypted && isTooOpen(url.hostname, undefined))
    return {
      problem: `found ${url.hostname}, which is no private address, without TLS; write rediss:// in place of redis://`,
    }
  return { url: url.href, isLiteral: resolved.literal && url.password !== '' }
}

/** A password with what a URL has for itself is the usual reason. */
const notRead = (text: string, allowed: string): string =>
  /^\s*\w+:\/\/.*[/?#%].*@/s.test(text)
    ? 'found a URL that cannot be read: in its user and password, write / as %2F, ? as %3F, # as %23, @ as %40 and % as %25'
    : `found something else, allowed: ${allowed}`

/** A database in words: what tells it from another, and nothing that opens it. */
export const shownStore = (url: string): string => {
  const urls = postgresUrls(url) ?? [new URL(url)]
  const [{ protocol, pathname }] = urls
  return `${protocol}//${hostsOf(urls)}${pathname}`
}
