// Texts sealed at rest: AES-256-GCM by one of a few keys, bound to what they belong to.

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** What a sealed text begins with, in case there is ever another way. */
const FORM = 'v1.'

/** `id` tells keys apart and tells nothing of them. */
export type SealKey = { id: string; bytes: Buffer }

export type Sealed = { text: string; by: string }

export const SEAL_KEY_FORM =
  '32 random bytes as 64 hexadecimal digits or as base64, such as "openssl rand -hex 32" prints; several parted by commas'

export const makeSealKey = (): SealKey => keyOf(randomBytes(KEY_BYTES))

/** One line of a key file. */
export const sealKeyText = ({ bytes }: SealKey): string => bytes.toString('hex')

/** Undefined where one of them is none, or there is none. */
export const parseSealKeys = (text: string): SealKey[] | undefined => {
  const words = text.split(/[\s,]+/).filter((word) => word !== '')
  const keys = words.flatMap((word) => {
    const bytes = /^[0-9a-f]{64}$/i.test(word)
      ? Buffer.from(word, 'hex')
      : /^[\w+/-]{43}=?$/.test(word)
        ? Buffer.from(word, 'base64')
        : undefined
    return bytes?.length === KEY_BYTES ? [keyOf(bytes)] : []
  })
  return keys.length === words.length && keys.length > 0 ? keys : undefined
}

const keyOf = (bytes: Buffer): SealKey => ({
  id: createHash('sha256').update('sluice seal key').update(bytes).digest('hex').slice(0, 16),
  bytes,
})

/** `bound`: what must be the same when it is opened. */
export const sealText = ({ id, bytes }: SealKey, text: string, bound: string): Sealed => {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', bytes, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(bound))
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return { text: FORM + sealed.toString('base64url'), by: id }
}

/** Undefined where the text is not what that key has sealed, or not of `bound`. */
export const openText = ({ bytes }: SealKey, { text }: Sealed, bound: string): string | undefined => {
  const sealed = Buffer.from(text.slice(FORM.length), 'base64url')
  if (!text.startsWith(FORM) || sealed.length < NONCE_BYTES + TAG_BYTES) return undefined
  try {
    const nonce = sealed.subarray(0, NONCE_BYTES)
    const cipher = createDecipheriv('aes-256-gcm', bytes, nonce, { authTagLength: TAG_BYTES })
    cipher.setAAD(Buffer.from(bound))
    cipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    const opened = Buffer.concat([cipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), cipher.final()])
    return opened.toString('utf8')
  } catch {
    return undefined
  }
}
