// What data URLs and base64 hold, however their writer wrote them, and of what kind it is: by its first bytes where those
// tell, for vendors refuse what is said to be of another kind.

import { isUtf8 } from 'node:buffer'

/** `data` is base64 in its plain letters. */
export type Held = { mediaType: string; data: string }

const HEAD = /^data:([^,]*),/i

/** What a `data:` URL holds, `fallback` being its kind where nothing tells; undefined for any other text. */
export const heldIn = (url: string, fallback: string): Held | undefined => {
  const head = HEAD.exec(url)
  if (head === null) return undefined
  const [type = '', ...flags] = (head[1] ?? '').split(';').map((part) => part.trim().toLowerCase())
  const body = url.slice(head[0].length)
  const data = flags.includes('base64') ? plain(body) : Buffer.from(unescaped(body), 'utf8').toString('base64')
  return { mediaType: kindOf(data) ?? (type === '' ? fallback : type), data }
}

/** Base64 without the lines, the escapes and the other alphabet that some write it with. */
const plain = (base64: string): string =>
  /^[\w+/]*=*$/.test(base64) && !base64.includes('_')
    ? base64
    : unescaped(base64).replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/')

const unescaped = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** What base64 holds by its first bytes; undefined where they are none that vendors ask for. */
export const kindOf = (base64: string): string | undefined => BEGINNINGS.find(([begins]) => begins.test(base64))?.[1]

const BEGINNINGS: [RegExp, string][] = [
  [/^\/9j\//, 'image/jpeg'],
  [/^iVBORw0KGgo/, 'image/png'],
  [/^R0lGOD/, 'image/gif'],
  [/^UklGR.{7}RUJQ/, 'image/webp'],
  [/^JVBERi0/, 'application/pdf'],
]

/** The text that a file holds, whatever it calls itself; undefined for one that holds none. */
export const textIn = ({ mediaType, data }: Held): string | undefined => {
  const bytes = Buffer.from(data, 'base64')
  return mediaType.startsWith('text/') || isWritten(bytes) ? bytes.toString('utf8') : undefined
}

const isWritten = (bytes: Buffer): boolean =>
  bytes.length > 0 &&
  isUtf8(bytes) &&
  !bytes.subarray(0, LOOKED_AT).some((byte) => byte < 9 || (byte > 13 && byte < 27))

const LOOKED_AT = 1_000
