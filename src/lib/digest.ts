// A short hash of a text, for ids that must come out the same every time.

const WIDTH = 11

/** Eleven letters and digits, from 53 bits. Not cryptographic: collisions can be made on purpose. */
export const digest = (text: string): string => {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    high = Math.imul(high ^ code, 0x9e3779b1)
    low = Math.imul(low ^ code, 0x5f356495)
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35)
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35)
  return (2 ** 32 * (low & 0x1fffff) + (high >>> 0)).toString(36).padStart(WIDTH, '0')
}
