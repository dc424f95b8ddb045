// Data URLs and base64, as leniently as clients write them. The media type is taken from the first bytes where they show
// it, because vendors refuse data of another type than declared.

/** `data` is base64 in the standard alphabet. */
type InlineData = { mediaType: string; data: string }

const utf8 = new TextEncoder()
const HEAD = /^data:([^,]*),/i

/**
 * The content of a `data:` URL, or of the bare base64 of a type that its first bytes show; `fallback` is the media type
 * where none is known. Undefined for any other text.
 */
export const parseDataUrl = (url: string, fallback: string): InlineData | undefined => {
  const head = HEAD.exec(url)
  if (head === null) {
    const mediaType = sniffMediaType(url)
    return mediaType === undefined ? undefined : { mediaType, data: plain(url) }
  }
  const [type = '', ...flags] = (head[1] ?? '').split(';').map((part) => part.trim().toLowerCase())
  const body = url.slice(head[0].length)
  const data = flags.includes('base64') ? plain(body) : utf8.encode(unescaped(body)).toBase64()
  return { mediaType: sniffMediaType(data) ?? (type === '' ? fallback : type), data }
}

/** Base64 without line breaks and percent escapes, and in the standard alphabet instead of the URL-safe one. */
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

/** The media type of base64 by its first bytes; undefined for a type not listed here. */
export const sniffMediaType = (base64: string): string | undefined =>
  BEGINNINGS.find(([begins]) => begins.test(base64))?.[1]

const BEGINNINGS: [RegExp, string][] = [
  [/^\/9j\//, 'image/jpeg'],
  [/^iVBORw0KGgo/, 'image/png'],
  [/^R0lGOD/, 'image/gif'],
  [/^UklGR.{7}RUJQ/, 'image/webp'],
  [/^JVBERi0/, 'application/pdf'],
]

/** The text of a file, whatever its media type says; undefined for one that is not text. */
export const decodeText = ({ mediaType, data }: InlineData): string | undefined => {
  const bytes = Buffer.from(data, 'base64')
  return mediaType.startsWith('text/') ? bytes.toString('utf8') : writtenIn(bytes)
}

const writtenIn = (bytes: Buffer): string | undefined => {
  if (bytes.length === 0 || bytes.subarray(0, LOOKED_AT).some((byte) => byte < 9 || (byte > 13 && byte < 27)))
    return undefined
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return undefined
  }
}

const LOOKED_AT = 1_000
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
