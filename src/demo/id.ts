// Ids as the vendors write them: a prefix and letters nobody reads.

const ALPHABET = '0123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

export const randomId = (prefix: string, length: number): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(length))
  return prefix + Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join('')
}
