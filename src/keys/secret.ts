// Secrets of keys: how they are made, hashed, and read from a request's headers.

import { GatewayError } from '../errors.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX = 'sk-sl-'
/** What tokens of the admin API begin with. */
export const TOKEN_PREFIX = 'sl-admin-'
const LENGTH = 43
/** The largest multiple of 62 a byte can count to: bytes from there on would favour some characters. */
const FAIR = 248
/** No secret of ours is longer: what is needs no hashing to be refused. */
const LONGEST = 512

/** Characters of base62, each equally likely, from the system's randomness. */
export const randomBase62 = (length: number): string => {
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length - text.length + 8))) {
      if (byte < FAIR && text.length < length) text += ALPHABET[byte % 62]
    }
  }
  return text
}

/** A prefix and 43 base62 characters: 256 bits. */
export const makeSecret = (prefix = PREFIX): string => prefix + randomBase62(LENGTH)

const SHOWN = 4
const SECRET = new RegExp(`(${PREFIX}|${TOKEN_PREFIX})[0-9A-Za-z]{${LENGTH - SHOWN}}([0-9A-Za-z]{${SHOWN}})`, 'g')

/** Text with what look like keys and tokens of ours shortened to their last four characters. */
export const withoutSecrets = (text: string): string => text.replace(SECRET, '$1…$2')

/** SHA-256, hex: all that is ever stored of a secret. */
export const hashSecret = (secret: string): string => new Bun.CryptoHasher('sha256').update(secret).digest('hex')

/**
 * The secret a request shows: `Authorization: Bearer` first, then `x-api-key`. Throws `missing_api_key`, or
 * `invalid_api_key` for an `Authorization` header without a usable bearer token, whatever `x-api-key` says.
 */
export const secretOf = (headers: Headers): string => {
  const authorization = headers.get('authorization')
  if (authorization === null) {
    const secret = headers.get('x-api-key')
    if (secret === null || secret === '') throw missing()
    return bounded(secret)
  }
  const token = BEARER.exec(authorization)?.[1]
  if (token === undefined) {
    throw new GatewayError(
      'invalid_api_key',
      'The Authorization header carries no bearer token. Send it as "Authorization: Bearer <API_KEY>".',
    )
  }
  return bounded(token)
}

const BEARER = /^bearer[ \t]+([^\s,]+)$/i

const bounded = (secret: string): string => {
  if (secret.length > LONGEST) throw unknownKey(secret)
  return secret
}

const missing = (): GatewayError =>
  new GatewayError(
    'missing_api_key',
    'No API key was sent. Send yours as "Authorization: Bearer <API_KEY>" or "x-api-key: <API_KEY>".',
  )

/** For a secret that belongs to no key, with what its form shows of how it went wrong. */
export const unknownKey = (secret?: string): GatewayError =>
  new GatewayError('invalid_api_key', `The API key is not valid. ${adviceFor(secret)}`)

const WHOLE = PREFIX.length + LENGTH
const WITHIN = new RegExp(`${PREFIX}[0-9A-Za-z]{${LENGTH}}(?![0-9A-Za-z])`)

const adviceFor = (secret: string | undefined): string => {
  if (secret === undefined || WITHIN.exec(secret)?.[0] === secret) {
    return 'Check that it was copied whole, or get a new one.'
  }
  if (secret.length <= LONGEST && WITHIN.test(secret))
    return 'Something stands around it, such as quotes. Send it alone.'
  if (secret.startsWith(TOKEN_PREFIX)) {
    return `It is a token for the admin API. Send a key, which begins with ${PREFIX}.`
  }
  return secret.startsWith(PREFIX)
    ? `It has ${secret.length} characters, a whole one ${WHOLE}. Copy it again, or get a new one.`
    : `Send one of this gateway's, which begin with ${PREFIX}: a vendor's key belongs in the gateway's configuration.`
}
