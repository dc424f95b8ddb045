// Opaque reasoning that only its maker can read: text sealed with a keyed hash, bound to what is shown beside it.

import { createHmac, timingSafeEqual } from 'node:crypto'

export type Seal = {
  /** Base64 of a keyed hash and the text. */
  close(text: string, bound: string): string
  /** The text, or undefined where the seal is another maker's, was tampered with or is bound to something else. */
  open(sealed: string, bound: string): string | undefined
}

const MAC_BYTES = 32

// The secret is fixed: a conversation goes on after the demo was started again, as with the vendors.
export const createSeal = (maker: string, prefix = ''): Seal => {
  const mac = (text: Uint8Array, bound: string): Buffer =>
    createHmac('sha256', `demo secret of ${maker}`).update(bound).update('\0').update(text).digest()
  return {
    close: (text, bound) => {
      const bytes = Buffer.from(text)
      return prefix + Buffer.concat([mac(bytes, bound), bytes]).toString('base64')
    },
    open: (sealed, bound) => {
      if (!sealed.startsWith(prefix)) return undefined
      const bytes = Buffer.from(sealed.slice(prefix.length), 'base64')
      if (bytes.length < MAC_BYTES) return undefined
      const text = bytes.subarray(MAC_BYTES)
      return timingSafeEqual(bytes.subarray(0, MAC_BYTES), mac(text, bound)) ? text.toString() : undefined
    },
  }
}
